import { type Command, InvalidArgumentError, Option } from 'commander';
import { DURATION_SYNTAX, parseDuration } from '../base/duration.ts';
import { Fault } from '../base/fault.ts';
import type { Filter } from '../base/filter/index.ts';
import { parseInstant } from '../base/instant.ts';
import { findProject } from '../features/projects/index.ts';
import {
  type ChangeItem,
  type Cursor,
  followStream,
  readStream,
  readStreamFilter,
  type StreamItem,
} from '../features/stream/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { EXIT_FAILED, type Opened, type Operator } from './operator.ts';
import {
  describeError,
  inProjectTime,
  JSON_OPTION,
  type OutputOptions,
  PROJECT_OPTION,
  runOpened,
} from './run.ts';

type StreamOptions = OutputOptions & {
  project: string;
  follow?: boolean;
  since?: string;
  filter?: string;
  limit?: number;
};

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

export function addStreamCommand(program: Command, operator: Operator): void {
  program
    .command('stream')
    .description(
      'what happens in a project: requests, events, people who change, audiences they join and leave, drafts, what is done to them, letters and what becomes of those',
    )
    .requiredOption(...PROJECT_OPTION)
    .option('--follow', 'print what comes, until Ctrl-C; with --json one object a line')
    .option(
      '--since <time>',
      'from then on: a time such as 2026-01-15T12:00:00Z, or so long back, such as 15m',
    )
    .option('--filter <filter>', 'such as "type:event name:trial_* user:42"; see a wrong one for all keys')
    .addOption(
      new Option('--limit <number>', `the newest so many, ${LIMIT_DEFAULT} if not said; not with --follow`)
        .argParser(readLimit)
        .conflicts('follow'),
    )
    .option(...JSON_OPTION)
    .action((options: StreamOptions) => (options.follow ? follow : print)(operator, options));
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LIMIT_MAX}.`);
}

function print(operator: Operator, options: StreamOptions): Promise<void> {
  return runOpened(operator, options, {
    async work({ db }) {
      const asked = await readAsked(db, options);
      return listNewest(db, { ...asked, limit: options.limit ?? LIMIT_DEFAULT });
    },
    show: (items) => (items.length === 0 ? 'Nothing such has happened' : items.map(describeItem).join('\n')),
  });
}

type Asked = { projectId: number; filter: Filter; since: Date | undefined };

async function readAsked(db: Database, { project, filter, since }: StreamOptions): Promise<Asked> {
  const { id: projectId } = await findProject(db, project);
  return {
    projectId,
    filter: readStreamFilter(filter ?? ''),
    since: since === undefined ? undefined : readSince(since, db.clock.now()),
  };
}

function readSince(text: string, now: number): Date {
  const agoMs = parseDuration(text);
  const ms = agoMs === undefined ? parseInstant(text) : now - agoMs;
  if (!Number.isNaN(ms)) return new Date(ms);
  const message = `--since must be a time such as 2026-01-15T12:00:00Z, or ${DURATION_SYNTAX}`;
  throw new Fault('validation_failed', { details: [{ message, field: 'since' }] });
}

/** Oldest first; a filter that lets little through is asked for on and on. */
async function listNewest(tx: Tx, { limit, ...asked }: Asked & { limit: number }): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  let before: Cursor | undefined;
  for (let more = true; more && items.length < limit;) {
    const page = await readStream(tx, { ...asked, after: null, before, limit: limit - items.length });
    items.push(...page.items);
    before = page.cursor ?? before;
    ({ more } = page);
  }
  return items.toReversed();
}

async function follow(operator: Operator, options: StreamOptions): Promise<void> {
  const stopped = new AbortController();
  const stopListening = operator.onSignal(() => stopped.abort());
  let opened: Opened | undefined;
  try {
    opened = await operator.open();
    const { db } = await inProjectTime(opened, options);
    const { since = new Date(db.clock.now()), ...asked } = await readAsked(db, options);
    const json = options.json ?? false;
    const onTrouble = (trouble: unknown): void =>
      operator.complain(`${json ? '' : 'Warning: '}${describeError(trouble, json)}`);
    for await (const items of followStream({ db, ...asked, since, signal: stopped.signal, onTrouble })) {
      operator.print(items.map(json ? (item) => JSON.stringify(item) : describeItem).join('\n'));
    }
  } catch (error) {
    operator.complain(describeError(error, options.json ?? false));
    operator.setExitCode(EXIT_FAILED);
  } finally {
    stopListening();
    await opened?.close();
  }
}

const TYPE_WIDTH = 'audience_joined'.length;

/** When, what, of whom, and the rest in short. */
function describeItem(item: StreamItem): string {
  const [subject, summary] = aboutItem(item);
  const line = `${item.at}  ${item.type.padEnd(TYPE_WIDTH)}  ${subject}  ${summary}`.trimEnd();
  // A stored text could otherwise move the cursor of the terminal that shows it.
  return line.replaceAll(/\p{Cc}/gu, '\u{FFFD}');
}

function aboutItem(item: StreamItem): [subject: string, summary: string] {
  if (item.type === 'request') {
    const { endpoint, status, code, requests, accepted, rejected } = item;
    const records = `${accepted} records accepted, ${rejected} rejected`;
    return [endpoint, `${status}${code === null ? '' : ` ${code}`} ×${requests}, ${records}`];
  }
  if (item.type === 'event') {
    const { external_user_id, name, properties, suppressed } = item;
    return [external_user_id, `${name}${suppressed ? ' (suppressed)' : ''} ${shortJson(properties)}`];
  }
  return item.type === 'move' || item.type === 'outcome' ? aboutLetter(item) : aboutChange(item);
}

function aboutChange(item: ChangeItem): [subject: string, summary: string] {
  const { at: _at, id: _id, type: _type, external_user_id, audience_id, audience, ...detail } = item;
  const subject = external_user_id ?? audience ?? audience_id ?? '';
  const joined = external_user_id === undefined ? '' : (audience ?? audience_id ?? '');
  return [subject, `${joined} ${shortJson(detail)}`.trim()];
}

/** In words: who did what to a draft, and what became of a letter. */
function aboutLetter(item: ChangeItem): [subject: string, summary: string] {
  const of = (name: string): string => (typeof item[name] === 'string' ? item[name] : '');
  const userId = of('external_user_id');
  if (item.type === 'outcome') return [userId, `${of('outcome')} (${of('rule')}, letter ${of('email_id')})`];
  const way = of('from') === of('to') ? `stays ${of('to')}` : `${of('from')} → ${of('to')}`;
  const why = of('reason') === '' ? '' : `, ${of('reason')}`;
  return [userId, `${of('action')} by ${of('actor')}: ${way}${why} (${of('rule')}, draft ${of('draft_id')})`];
}

const SUMMARY_CHARS_MAX = 200;

function shortJson(value: object): string {
  const text = JSON.stringify(value);
  if (text === '{}') return '';
  return text.length > SUMMARY_CHARS_MAX ? `${text.slice(0, SUMMARY_CHARS_MAX)}…` : text;
}
