import type { Command } from 'commander';
import type { AnswerOf, DraftListed, DraftMoved, DraftSeen } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { printable, printableLines } from '../output/printable.ts';
import { readDuration, when } from '../output/when.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';
import { readTime } from './track.ts';

type ListOptions = { all?: true; limit: string };
type MoveOptions = { hash?: string };
type SkipOptions = MoveOptions & { reason?: string };
type PostponeOptions = MoveOptions & { until: string };

const LIMIT_MAX = 200;

export function addDrafts(program: Command, shell: Shell): void {
  const drafts = program.command('drafts').description('letters before they leave');
  drafts
    .command('list')
    .description('what waits for its deadline or for a person')
    .argument('[filter...]', 'as in the dashboard: rule:welcome user:user_42 state:held')
    // A term that excludes begins with a minus, and is none.
    .allowUnknownOption()
    .option('--all', 'every draft, the newest first, and not only those that wait')
    .option('--limit <count>', `at most ${LIMIT_MAX}`, '50')
    .action(action<ListOptions>(shell, list));
  drafts
    .command('show')
    .description('one draft: why it is there, and the letter as it would leave now')
    .argument('<draft>', 'its id')
    .action(action(shell, show));
  withHash(drafts.command('approve').description('let it leave as soon as its gates allow')).action(
    action<MoveOptions>(shell, (running, draft = '') =>
      move(running, draft, (params, seen, { dashboard }) =>
        dashboard.call('POST /projects/:project/drafts/:draft/approve', { params, body: seen }),
      ),
    ),
  );
  withHash(drafts.command('skip').description('do not send it'))
    .option('--reason <reason>', 'why; stands in its history')
    .action(
      action<SkipOptions>(shell, (running, draft = '') =>
        move(running, draft, (params, seen, { dashboard }) => {
          const { reason } = running.options;
          const body = { ...seen, ...(reason === undefined ? {} : { reason }) };
          return dashboard.call('POST /projects/:project/drafts/:draft/skip', { params, body });
        }),
      ),
    );
  withHash(drafts.command('postpone').description('let it wait until later'))
    .requiredOption('--until <time>', 'such as 2026-01-31T09:00:00Z, or from now such as 4h or 2d')
    .action(
      action<PostponeOptions>(shell, (running, draft = '') =>
        move(running, draft, (params, seen, { dashboard }) => {
          const body = { ...seen, until: readUntil(running.options.until, shell.now()) };
          return dashboard.call('POST /projects/:project/drafts/:draft/postpone', { params, body });
        }),
      ),
    );
}

function withHash(command: Command): Command {
  return command
    .argument('<draft>', 'its id')
    .option('--hash <hash>', 'as drafts show says it: refused where it reads otherwise by now');
}

async function list(running: Running<ListOptions>, ...words: string[]): Promise<void> {
  const { options, output } = running;
  const limit = /^[1-9]\d{0,2}$/.test(options.limit) ? Number(options.limit) : LIMIT_MAX + 1;
  if (limit > LIMIT_MAX)
    throw usage(`--limit: ${options.limit} is no number from 1 to ${LIMIT_MAX}`, '--limit');
  const { dashboard, project } = await running.inProject();
  const { data, meta } = await dashboard.call('GET /projects/:project/drafts', {
    params: { project: project.id },
    query: { view: options.all ? 'all' : 'review', filter: words.join(' '), limit },
  });
  await output.many(data, { row: toRow, none: 'Nothing waits.' });
  if (meta.cursor !== null)
    await output.note(`There are more: ${data.length} of ${meta.pagination.total} are shown`);
}

function toRow({ id, state, reason, rule, person, subject, deadline_at }: DraftListed) {
  return {
    id,
    state: reason === null ? state : `${state} (${reason})`,
    rule: rule.name,
    user: person.external_user_id,
    subject,
    deadline: deadline_at === null ? 'none' : when(deadline_at),
  };
}

async function show({ inProject, output }: Running<object>, draft = ''): Promise<void> {
  const { dashboard, project } = await inProject();
  const params = { project: project.id, draft };
  const [whole, context, preview] = await Promise.all([
    dashboard.call('GET /projects/:project/drafts/:draft', { params }),
    dashboard.call('GET /projects/:project/drafts/:draft/context', { params }),
    dashboard.call('GET /projects/:project/drafts/:draft/preview', { params }),
  ]);
  const value = { draft: whole.data, why: context.data.why, preview: preview.data };
  await output.one(value, describe);
}

type Shown = {
  draft: AnswerOf<'GET /projects/:project/drafts/:draft'>['data'];
  why: AnswerOf<'GET /projects/:project/drafts/:draft/context'>['data']['why'];
  preview: AnswerOf<'GET /projects/:project/drafts/:draft/preview'>['data'];
};

function describe({ draft, why, preview }: Shown): string {
  const { person, gate, state, reason } = draft;
  const name = person.name === null ? '' : `${person.name}, `;
  const lines = [
    `${draft.subject}`,
    `  state     ${state}${reason === null ? '' : ` (${reason})`}`,
    `  to        ${name}${preview.to ?? person.email ?? 'no address'} (${person.external_user_id})`,
    `  from      ${preview.from}`,
    `  rule      ${draft.rule.name}`,
    `  deadline  ${draft.deadline_at === null ? 'none: a person has to send it' : when(draft.deadline_at)}`,
    ...(gate === null
      ? []
      : [`  held      ${gate.sentence}${gate.until === null ? '' : `, until ${when(gate.until)}`}`]),
    `  hash      ${draft.content_hash}`,
    ...why.map(({ sentence }) => `  because   ${sentence}`),
    ...preview.checks.filter(({ status }) => status !== 'ok').map(({ message }) => `  check     ${message}`),
  ];
  return `${lines.map(printable).join('\n')}\n\n${printableLines(preview.text)}`;
}

type Place = { project: string; draft: string };
type Move = (
  params: Place,
  seen: DraftSeen,
  found: Awaited<ReturnType<Running<object>['inProject']>>,
) => Promise<{ data: DraftMoved }>;

async function move(
  { inProject, output, options }: Running<MoveOptions>,
  draft: string,
  act: Move,
): Promise<void> {
  const found = await inProject();
  const { hash } = options;
  const { data } = await act({ project: found.project.id, draft }, hash === undefined ? {} : { hash }, found);
  await output.one(data, movedWords);
}

function movedWords({ draft, gate }: DraftMoved): string {
  const held = gate === null ? '' : ` Held for now: ${printable(gate.sentence)}`;
  return `“${printable(draft.subject)}” to ${printable(draft.person.external_user_id)} is ${draft.state}.${held}`;
}

function readUntil(text: string, now: number): string {
  const ms = readDuration(text);
  return ms === null ? readTime(text, '--until') : new Date(now + ms).toISOString();
}
