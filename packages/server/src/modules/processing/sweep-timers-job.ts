import type { Log } from '../../platform/log.ts';
import { sweepDues as sweep } from './sweep-timers.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';

const EVERY_MS = 30_000;

/** Repairs alarms that do not match the due work. Each one found is a defect, so it is also logged. */
export function sweepDues({
  db,
  log,
}: {
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>;
  log: Log;
}): Job {
  return {
    name: 'repair_alarms',
    everyMs: EVERY_MS,
    async run() {
      const projects = await sweep(db);
      if (projects > 0) log.warn({ projects }, 'alarms.repaired');
    },
  };
}
