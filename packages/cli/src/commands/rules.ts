import type { Command } from 'commander';
import type { Backtest, RuleListed } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { readDuration, when } from '../output/when.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';
import { testRule } from '../api/backtest.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 366;

export function addRules(program: Command, shell: Shell): void {
  const rules = program.command('rules').description('what letters are written by');
  rules
    .command('list')
    .description('the rules of the project, in the order of their priority')
    .action(action(shell, list));
  rules
    .command('test')
    .description('whom a rule would have written to, over what is stored; nothing is changed')
    .argument('<rule>', 'its id or its name')
    .option('--since <duration>', 'how far back, in days such as 30d', '30d')
    .action(action<{ since: string }>(shell, test));
}

async function list({ inProject, output }: Running<object>): Promise<void> {
  const { dashboard, project } = await inProject();
  const { data } = await dashboard.call('GET /projects/:project/rules', { params: { project: project.id } });
  await output.many(data, { row: toRow, none: 'This project has no rules.' });
}

function toRow({ id, name, on, mode, leaves_after, open_drafts, priority }: RuleListed) {
  return {
    id,
    name,
    state: on ? 'on' : 'off',
    mode,
    leaves_after: leaves_after ?? 'when approved',
    open_drafts,
    priority,
  };
}

async function test(
  { inProject, output, options, signal }: Running<{ since: string }>,
  rule = '',
): Promise<void> {
  const ms = readDuration(options.since) ?? 0;
  const days = Math.ceil(ms / DAY_MS);
  if (days < 1 || days > DAYS_MAX)
    throw usage(`--since: ${options.since} is no number of days from 1d to 366d`, '--since');
  const { dashboard, project } = await inProject();
  const found = await testRule(dashboard, {
    projectId: project.id,
    rule,
    days,
    signal,
    onProgress: (share) => output.progress(`Looking through ${days} days … ${Math.floor(share * 100)} %`),
  });
  await output.one(found, describe);
}

function describe({ rule, from, to, considered, entered, letters, refused, samples }: Backtest): string {
  const lines = [
    `${printable(rule)}, from ${when(from)} to ${when(to)}`,
    `  looked at ${times(considered)}; people who would have come in: ${entered.people}, ${times(entered.runs)} in all`,
    `  letters written: ${letters.written}; taken back before they left: ${letters.cancelled}; without an address: ${letters.without_address}`,
    ...refused.map(({ count, sentence }) => `  ${count} × not: ${printable(sentence)}`),
    ...samples.map(
      ({ external_user_id, at, subject }) =>
        `  for instance to ${printable(external_user_id)} at ${when(at)}: “${printable(subject)}”`,
    ),
  ];
  return lines.join('\n');
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
