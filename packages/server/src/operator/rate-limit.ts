import { type Command, InvalidArgumentError } from 'commander';
import { findProject, listRateLimits, readEndpoint, setRateLimit } from '../features/projects/index.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;
type Wanted = OfProject & { endpoint: string; rate?: number; burst?: number };

export function addRateLimitCommands(program: Command, operator: Operator): void {
  const rateLimit = program.command('rate-limit').description("read and change a project's rate limits");
  rateLimit
    .command('list')
    .description('show the limit of every endpoint, in requests')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => listRateLimits(db, (await findProject(db, options.project)).id),
        show: (rows) => table(rows, 'This project has no limits'),
      }),
    );
  rateLimit
    .command('set')
    .description('change the limit of one endpoint; in force everywhere within a second')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--endpoint <endpoint>', 'users, users/bulk, events, events/batch or events/bulk')
    .option('--rate <number>', 'requests a second in the long run', readNumber)
    .option('--burst <number>', 'requests at once', readNumber)
    .option(...JSON_OPTION)
    .action((options: Wanted) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const endpoint = readEndpoint(options.endpoint);
          const { id: projectId } = await findProject(db, options.project);
          const { rate, burst } = options;
          return setRateLimit({ tx: db, clock: db.clock }, { projectId, endpoint }, { rate, burst });
        },
        show: ({ endpoint, rate, burst }) => `${endpoint}: ${rate} a second, ${burst} at once`,
      }),
    );
}

function readNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}
