import type { Command } from 'commander';
import { iso } from '../base/clock.ts';
import { printDuration } from '../base/duration.ts';
import { idMaker } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { findProject } from '../features/projects/index.ts';
import { readTurn } from '../features/turns/index.ts';
import { advanceClock, readAdvance } from '../flows/sandbox/index.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';

type OfProject = { project: string } & OutputOptions;

export function addClockCommands(program: Command, operator: Operator): void {
  const clock = program
    .command('clock')
    .description('show the time of a project, and move that of a sandbox');
  clock
    .command('show')
    .description('what time it is in a project, and how far that is ahead of real time')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const { aheadMs } = await readTurn(db, (await findProject(db, options.project)).id);
          return { now: iso(db.clock.now() + aheadMs), ahead_ms: aheadMs };
        },
        show: ({ now, ahead_ms: ahead }) =>
          ahead === 0 ? `${now}, which is real time` : `${now}, ahead of real time by ${wholeOf(ahead)}`,
      }),
    );
  clock
    .command('advance')
    .description(
      'let time pass in a sandbox: everything that falls due on the way happens; at most 366d at a time',
    )
    .argument('<time>', 'such as 90m or 7d')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((time: string, options: OfProject) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { id: projectId } = await findProject(opened.db, options.project);
          const deps = { ...opened, log: silentLog, newId: idMaker(opened.db.clock) };
          const done = await advanceClock(deps, { projectId, ms: readAdvance(time) });
          const { now, advancedMs: advanced_ms, drafts, letters } = done;
          return { now: iso(now), advanced_ms, drafts, letters };
        },
        show: ({ now, drafts, letters }) =>
          `It is ${now} there now. On the way ${drafts} drafts were made, and ${letters} letters left for the outbox`,
      }),
    );
}

function wholeOf(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds === 0 ? 'less than a second' : printDuration(seconds * 1_000);
}
