import type { Command } from 'commander';
import type { Explained } from '../base/predicate/index.ts';
import { findProject } from '../features/projects/index.ts';
import {
  type DraftNow,
  explainPerson,
  type ExplainedRow,
  type RuleNow,
  type TriggerNow,
} from '../flows/explain/index.ts';
import { printable } from './audience-output.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type Options = { project: string; user: string; rule?: string } & OutputOptions;

export function addExplainCommand(program: Command, operator: Operator): void {
  program
    .command('explain')
    .description('why a person got a letter, or got none: what was decided about them, and what would be now')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--user <user>', 'the external_user_id')
    .option('--rule <rule>', 'this rule alone, by its id or its name')
    .option(...JSON_OPTION)
    .action((options: Options) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          return explainPerson(
            { db, mailroom },
            { projectId, userId: options.user, rule: options.rule ?? null },
          );
        },
        show: describe,
      }),
    );
}

function describe(rows: ExplainedRow[]): string {
  if (rows.length === 0) return 'This project has no rules: rule create makes one';
  const rules = Map.groupBy(rows, ({ rule }) => rule);
  return printable([...rules].map(([rule, some]) => describeRule(rule, some).join('\n')).join('\n\n'));
}

function describeRule(rule: string, rows: ExplainedRow[]): string[] {
  const decided = rows.filter(({ count }) => count > 0);
  const now = rows.flatMap((row) => row.now ?? [])[0];
  const drafts = rows.flatMap((row) => row.drafts);
  return [
    `${rule}: ${headOf(rows)}`,
    ...decided.map(decisionLine),
    ...drafts.flatMap(draftLines),
    ...(now ? nowLines(now) : []),
  ];
}

function headOf(rows: ExplainedRow[]): string {
  const fired = rows.find((row) => row.fired);
  if (fired) return `it fired, the last time at ${fired.at}`;
  const [newest] = rows;
  return newest ? `it did not fire: ${newest.sentence}` : 'it did not fire';
}

function decisionLine({ at, reason, sentence, key, count, first_at, detail }: ExplainedRow): string {
  const times = count > 1 ? `, ${count} times since ${first_at}` : '';
  const ofKey = key === '' || key === null ? '' : `, key ${key}`;
  return `  ${at}  ${sentence} (${reason}${ofKey}${times})${detailWords(detail)}`;
}

function detailWords(detail: Record<string, unknown>): string {
  const words = Object.entries(detail).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
  return words.length === 0 ? '' : `: ${words.join(', ')}`;
}

function draftLines(draft: DraftNow): string[] {
  const { id, subject, state, reason, deadline_at, ended_at, holds, held_by: held } = draft;
  const why = reason === null ? '' : ` (${reason})`;
  if (ended_at !== null) return [`  letter ${id} “${subject}”: ${state}${why} at ${ended_at}`];
  const deadline = deadline_at === null ? 'without a deadline' : `its deadline is ${deadline_at}`;
  const head = `  letter ${id} “${subject}”: ${state}${why}, ${deadline}`;
  const condition = holds ? [] : ['    the condition of its rule does not hold any more'];
  if (!held) return [head, ...condition, '    no gate would hold it now'];
  const until = held.until === null ? 'until somebody changes that' : `until ${held.until}`;
  return [
    head,
    ...condition,
    `    now held ${until}: ${held.sentence} (${held.reason})${detailWords(held.detail)}`,
  ];
}

function nowLines({ triggers }: RuleNow): string[] {
  return triggers.flatMap(triggerLines);
}

function triggerLines(trigger: TriggerNow): string[] {
  const { waits_for, last_seen_at: seen, reason, would_pass_if: conditions } = trigger;
  const last = seen === null ? 'which never was so far' : `last at ${seen}`;
  const passes = reason === 'exit' ? 'would pass if none of these held:' : 'would pass if:';
  return [
    `  waits for: ${waits_for}, ${last}`,
    `    ${answerWords(trigger)}`,
    ...(conditions.length > 0 ? [`    ${passes}`] : []),
    ...conditions.flatMap((condition) => conditionLines(condition, 3)),
  ];
}

function answerWords({ would_fire, reason, sentence, at, is_set, note, detail }: TriggerNow): string {
  const when = is_set
    ? `at ${at}, as it stands`
    : at === null
      ? 'if it came now'
      : `if it came now, at ${at}`;
  const but = note === null ? '' : `, ${note}`;
  return would_fire
    ? `it would fire ${when}${but}`
    : `it would not fire ${when}${but}: ${sentence} (${reason})${detailWords(detail)}`;
}

function conditionLines({ sentence, holds, until, of = [] }: Explained, depth: number): string[] {
  const certain = until === null ? '' : `  (until ${until})`;
  const line = `${'  '.repeat(depth)}${holds ? 'yes' : 'no '}  ${sentence}${certain}`;
  return [line, ...of.flatMap((part) => conditionLines(part, depth + 1))];
}
