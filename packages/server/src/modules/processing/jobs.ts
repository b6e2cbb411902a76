import { listMarked, pruneMarks as pruneOf } from './prune-marks.ts';
import { sweepTimers as sweep } from './sweep-timers.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';
import type { Log } from '../../platform/log.ts';

const EVERY_MS = 30_000;

/** Deletes erasures and write sequences as soon as no record waits that they were created for. */
export function pruneMarks(db: Pick<Database, 'query' | 'prepared' | 'transaction'>): Job {
  return {
    name: 'delete_processing_marks',
    everyMs: EVERY_MS,
    async run(stopping) {
      for (const projectId of await listMarked(db)) {
        while (!stopping() && (await pruneOf(db, projectId)));
      }
    },
  };
}

const SWEEP_EVERY_MS = 30_000;

/** Repairs alarms that do not match the due work. Each one found is a defect, so it is also logged. */
export function sweepTimersJob({
  db,
  log,
}: {
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>;
  log: Log;
}): Job {
  return {
    name: 'repair_alarms',
    everyMs: SWEEP_EVERY_MS,
    async run() {
      const projects = await sweep(db);
      if (projects > 0) log.warn({ projects }, 'alarms.repaired');
    },
  };
}
