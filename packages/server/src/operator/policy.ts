import type { Command } from 'commander';
import { findProject } from '../features/projects/index.ts';
import type { ShownFate } from '../flows/shown-fate.ts';
import { type PolicyTotals, type SimulatedPolicy, simulatePolicy } from '../flows/simulate-policy.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { readPairs } from './settings.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;

export function addPolicyCommands(program: Command, operator: Operator): void {
  program
    .command('policy')
    .description('what lets letters leave: quiet hours, caps, throttle')
    .command('simulate')
    .description(
      'what would become of the letters that wait now, such as with quiet_hours=off frequency_cap=2/7d',
    )
    .argument(
      '<key=value...>',
      'as in settings set: quiet_hours, frequency_cap, throttle, time_zone, paused, and autopilot=draft',
    )
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((pairs: string[], options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          return simulatePolicy({ db, mailroom }, { projectId, wanted: readPairs(pairs) });
        },
        show: describe,
      }),
    );
}

function describe(simulated: SimulatedPolicy): string {
  const {
    drafts,
    is_cut,
    stop_sending: stopLeaving,
    today,
    changed,
    earlier,
    later,
    same,
    differences,
  } = simulated;
  const cut = is_cut ? ' (there are more, which were not looked at)' : '';
  return [
    `${drafts} letters wait for nothing but their time and the gates${cut}`,
    table([toRow('today', today), toRow('changed', changed)], ''),
    `Of those that leave under both, ${earlier} leave earlier, ${later} later, ${same} at the same moment`,
    ...(stopLeaving > 0 ? [`${stopLeaving} would leave by themselves no more, and wait for a person`] : []),
    table(
      differences.map(({ id, rule, external_user_id: user, today: before, changed: after }) => ({
        draft: id,
        rule,
        user,
        today: fateWords(before),
        changed: fateWords(after),
      })),
      'No letter fares otherwise',
    ),
  ].join('\n\n');
}

function toRow(policy: string, totals: PolicyTotals) {
  const { held, ...rest } = totals;
  const reasons = Object.entries(held).map(([reason, count]) => `${reason} ${count}`);
  return { policy, ...rest, held: reasons.length === 0 ? null : reasons.join(', ') };
}

function fateWords({ becomes, at, reason }: ShownFate): string {
  const why = reason === null ? '' : ` (${reason})`;
  if (becomes !== 'held') return `${becomes} ${at}${why}`;
  return at === null ? `held${why}` : `held until ${at}${why}`;
}
