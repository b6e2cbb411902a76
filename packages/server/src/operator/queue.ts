import type { Command } from 'commander';
import {
  countWaiting,
  listDead,
  listWaiting,
  type ProjectWaiting,
  retryDead,
  type Waiting,
} from '../features/inbox/index.ts';
import { findProject } from '../features/projects/index.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;

export function addQueueCommands(program: Command, operator: Operator): void {
  const queue = program
    .command('queue')
    .description('accepted records that wait, and those that could not be applied');
  addStatus(queue, operator);
  queue
    .command('dead')
    .description('list the records that could not be applied, the oldest 1,000')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const letters = await listDead(db, (await findProject(db, options.project)).id);
          return letters.map((letter) => ({
            seq: letter.seq,
            priority: letter.priority,
            kind: letter.kind,
            reason: letter.reason,
            accepted_at: letter.acceptedAt,
            dead_lettered_at: letter.deadLetteredAt,
            record: letter.record,
          }));
        },
        show: (rows) => table(rows, 'Every record could be applied'),
      }),
    );
  queue
    .command('retry')
    .description('let them wait again, behind what was accepted since')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => retryDead(db, (await findProject(db, options.project)).id),
        show: ({ retried }) => `${retried} records wait again`,
      }),
    );
}

function addStatus(queue: Command, operator: Operator): void {
  queue
    .command('status', { isDefault: true })
    .description(
      'count them (also without the word status); without a project, in each that has any, the 1,000 in which they wait longest',
    )
    .option(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: Partial<OfProject>) =>
      runInRealTime<Waiting | InProject[]>(operator, options, {
        work: async ({ db }) =>
          options.project === undefined
            ? (await listWaiting(db, null)).map(rowOf)
            : countWaiting(db, (await findProject(db, options.project)).id),
        show: (found) =>
          Array.isArray(found)
            ? table(found, 'No record waits in any project, and every one could be applied')
            : describeWaiting(found),
      }),
    );
}

type InProject = { project_id: string; name: string } & Waiting;

function rowOf({ projectId, name, live, bulk, oldest_ms, dead_letters }: ProjectWaiting): InProject {
  return { project_id: String(projectId), name, live, bulk, oldest_ms, dead_letters };
}

function describeWaiting({ live, bulk, dead_letters: dead, oldest_ms }: Waiting): string {
  return `${live} live and ${bulk} bulk records wait, the oldest for ${oldest_ms} ms; ${dead} could not be applied`;
}
