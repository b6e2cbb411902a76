import { type Command, InvalidArgumentError } from 'commander';
import { DURATION_SYNTAX, parseDuration } from '../base/duration.ts';
import { Fault } from '../base/fault.ts';
import { findProject } from '../features/projects/index.ts';
import { backtest, type BacktestAsked, type Backtested } from '../flows/backtest/index.ts';
import { printable } from './audience-output.ts';
import { readJson } from './json-file.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';

type Options = { project: string; rule?: string; file?: string; since: number } & OutputOptions;

const SINCE_MAX_MS = 366 * 86_400_000;
const ENTRIES_SHOWN = 20;

export function addRuleBacktest(rule: Command, operator: Operator): void {
  rule
    .command('backtest')
    .description('run a rule, saved or not, over the events that are stored; nothing is written')
    .requiredOption(...PROJECT_OPTION)
    .option('--rule <rule>', 'a saved rule, by its id or its name')
    .option(
      '--file <file>',
      'JSON, as of rule create; with the name of a saved rule it is held against that one',
    )
    .requiredOption('--since <duration>', 'how far back, such as 30d', readSince)
    .option(...JSON_OPTION)
    .action((options: Options) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const asked = await readRule(options);
          const { id: projectId } = await findProject(db, options.project);
          return backtest(
            { db, renderer: mailroom.renderer },
            { projectId, sinceMs: options.since, rule: asked },
          );
        },
        show: describe,
      }),
    );
}

function readSince(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= SINCE_MAX_MS) return ms;
  throw new InvalidArgumentError(`It must be ${DURATION_SYNTAX}, at most 366d.`);
}

async function readRule({ rule, file }: Options): Promise<BacktestAsked['rule']> {
  if (rule !== undefined && file === undefined) return { reference: rule };
  if (file !== undefined && rule === undefined) return { document: await readJson(file) };
  const message = 'Say which rule: --rule R for a saved one, or --file F for one that may not be saved';
  throw new Fault('validation_failed', { details: [{ message }] });
}

function describe(found: Backtested): string {
  const { rule, is_saved, from, to, cut_at: cut, considered, entered, waiting, entries } = found;
  const end = cut === null ? to : `${cut} (cut off there: too many events)`;
  const more = entered.runs > ENTRIES_SHOWN ? ` (the first ${ENTRIES_SHOWN} of ${entered.runs})` : '';
  return printable(
    [
      `${rule}${is_saved ? '' : ' (not saved)'} from ${from} to ${end}`,
      `It would have been considered ${considered} times: ${entered.users} people in ${entered.runs} runs, ${entered.held_out} of them held out; for ${waiting} people a moment is set that comes later`,
      `Who would have entered${more}:\n${table(entries.slice(0, ENTRIES_SHOWN), 'Nobody')}`,
      `Refused:\n${table(found.refused, 'Nobody')}`,
      letterWords(found),
      ...found.samples.map(
        ({ external_user_id: user, at, subject, body }) =>
          `To ${user}, ${at}: ${subject}\n\n${indented(body)}`,
      ),
      ...differenceWords(found),
      `It was taken for granted:\n${found.assumptions.map((one) => `- ${one}`).join('\n')}`,
    ].join('\n\n'),
  );
}

function letterWords({ emails: letters, caps }: Backtested): string {
  const { written, canceled, without_address: without, per_day } = letters;
  return [
    `Letters: ${written}, of which ${canceled} would have been canceled before they left, and ${without} have nobody to go to`,
    `The frequency caps of today would have held ${caps.held} of them, and they would have taken the slots of ${caps.displaced} that left`,
    table(per_day, 'On no day'),
  ].join('\n');
}

function differenceWords({ difference }: Backtested): string[] {
  if (!difference) return [];
  const { version, added, removed, emails: letters } = difference;
  const sign = letters < 0 ? '' : '+';
  return [
    `Against version ${version}, which is saved: ${added.users} people more, ${removed.users} fewer, ${sign}${letters} letters`,
  ];
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
