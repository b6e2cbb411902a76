import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration, printDuration } from '../base/duration.ts';
import { ARM_MIN, type Grouping, GROUPINGS } from '../features/insights/index.ts';
import { findProject } from '../features/projects/index.ts';
import { type ShownInsight, type ShownInsights, showInsights } from '../flows/show-insights.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';

type Options = { project: string; by: Grouping; since: number } & OutputOptions;

const SINCE_MS = 30 * 86_400_000;
const SINCE_MAX_MS = 366 * 86_400_000;

export function addInsightsCommand(program: Command, operator: Operator): void {
  program
    .command('insights')
    .description('what became of the letters: how many arrived, were opened and clicked by people, came back')
    .requiredOption(...PROJECT_OPTION)
    .addOption(new Option('--by <what>', 'what they are put together by').choices(GROUPINGS).default('rule'))
    .addOption(
      new Option('--since <duration>', 'letters of so long ago at most, such as 7d')
        .argParser(readSince)
        .default(SINCE_MS, printDuration(SINCE_MS)),
    )
    .option(...JSON_OPTION)
    .action((options: Options) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const since = db.clock.now() - options.since;
          return showInsights(db, { projectId, by: options.by, since });
        },
        show: describe,
      }),
    );
}

function describe({ by, since, groups, is_cut: isCut }: ShownInsights): string {
  const rows = groups.map((group) => ({
    [by]: group.name,
    sent: group.sent,
    delivered: withRate(group.delivered, group.rates.delivered),
    opened: withRate(group.opened, group.rates.opened),
    clicked: withRate(group.clicked, group.rates.clicked),
    replied: withRate(group.replied, group.rates.replied),
    bounced: bouncesOf(group),
    complained: group.complained,
    unsubscribed: group.unsubscribed,
    machines: group.bot_opened + group.bot_clicked,
  }));
  const lifts = groups.flatMap((group) => (group.lift ? [liftWords(group.name, group.lift)] : []));
  return [
    table(rows, `No letter has left since ${since}`),
    ...(isCut ? ['There are more letters than are looked at: only the newest are counted'] : []),
    ...lifts,
  ].join('\n\n');
}

function withRate(count: number, rate: number | null): string {
  return rate === null ? `${count}` : `${count} (${percent(rate)})`;
}

function bouncesOf({ bounced, rates }: ShownInsight): string {
  const kinds = Object.entries(bounced).flatMap(([kind, count]) => (count > 0 ? [`${kind} ${count}`] : []));
  return kinds.length === 0 ? '0' : `${kinds.join(', ')} (${percent(rates.bounced ?? 0)})`;
}

function liftWords(
  name: string,
  { treatment: letter, holdout, shown }: NonNullable<ShownInsight['lift']>,
): string {
  const of = (arm: typeof letter): string => `${arm.converted} of ${arm.entered}`;
  const both = `${name}: ${of(letter)} came to its goal with letters, ${of(holdout)} in the holdout`;
  if (!shown) return `${both}; what that says is told from ${ARM_MIN} on each side`;
  const { difference, from, to } = shown;
  return `${both}: ${signed(difference)} points (${signed(from)} to ${signed(to)}, 95 times out of a hundred)`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function signed(share: number): string {
  return `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)}`;
}

function readSince(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= SINCE_MAX_MS) return ms;
  throw new InvalidArgumentError(
    `It must be a duration of at most ${printDuration(SINCE_MAX_MS)}, such as 7d.`,
  );
}
