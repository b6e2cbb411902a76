import type { Command } from 'commander';
import type { Explained, WhyRule } from '@beckon/contract/dashboard';
import { printable } from '../output/printable.ts';
import { when } from '../output/when.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

export function addExplain(program: Command, shell: Shell): void {
  program
    .command('explain')
    .description('why a user had a letter or had none: what was decided, and what would be decided now')
    .argument('<user>', 'the external_user_id')
    .argument('[rule]', 'this rule alone, by its id or its name')
    .action(action(shell, explain));
}

async function explain({ inProject, output }: Running<object>, user = '', rule?: string): Promise<void> {
  const { dashboard, project } = await inProject();
  const { data } = await dashboard.call('GET /projects/:project/users/:user/why', {
    params: { project: project.id, user },
    query: rule === undefined ? {} : { rule },
  });
  await output.all(data, (rules) =>
    rules
      .flatMap((one) => [...ruleLines(one), ''])
      .map(printable)
      .join('\n')
      .trimEnd(),
  );
}

function ruleLines({ rule, is_on, would_fire, triggers, decided, drafts }: WhyRule): string[] {
  const state = is_on ? '' : ' (switched off)';
  return [
    `${rule.name}${state}: ${would_fire ? 'would begin something now' : 'would begin nothing now'}`,
    ...decided.map(
      ({ at, sentence, count }) => `  ${when(at)}  ${sentence}${count > 1 ? ` (${count} times)` : ''}`,
    ),
    ...drafts.flatMap(draftLines),
    ...triggers.flatMap(triggerLines),
  ];
}

function draftLines({ id, subject, state, reason, held }: WhyRule['drafts'][number]): string[] {
  const why = reason === null ? '' : ` (${reason})`;
  const until = held?.until ? `, until ${when(held.until)}` : '';
  return [
    `  letter ${id} “${subject}”: ${state}${why}`,
    ...(held === null ? [] : [`    held now: ${held.sentence}${until}`]),
  ];
}

function triggerLines({
  waits_for,
  last_seen_at,
  would_fire,
  sentence,
  would_pass_if,
}: WhyRule['triggers'][number]): string[] {
  const seen = last_seen_at === null ? 'never seen' : `last seen ${when(last_seen_at)}`;
  return [
    `  waits for ${waits_for} (${seen})`,
    `    ${would_fire ? 'would fire' : `would not fire: ${sentence}`}`,
    ...would_pass_if.flatMap((condition) => conditionLines(condition, 3)),
  ];
}

function conditionLines({ sentence, holds, until, of = [] }: Explained, depth: number): string[] {
  const certain = until === null ? '' : `  (until ${when(until)})`;
  return [
    `${'  '.repeat(depth)}${holds ? 'yes' : 'no '}  ${sentence}${certain}`,
    ...of.flatMap((part) => conditionLines(part, depth + 1)),
  ];
}
