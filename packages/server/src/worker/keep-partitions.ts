import { ensurePartitions } from '../features/events/index.ts';
import { timesAhead } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Duty } from './timetable.ts';

const HOUR_MS = 3_600_000;
const LOOK_EVERY_MS = 5_000;

/**
 * The months ahead, those of sandboxes too, have their partitions before anything is stored there: soon after the start, then every hour. An attempt
 * gives way to whoever works on events; then the next look tries again, and not the next hour.
 */
export function keepPartitions(db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>): Duty {
  let dueAt = 0;
  return {
    name: 'keep_partitions',
    everyMs: LOOK_EVERY_MS,
    async run() {
      const now = db.clock.now();
      if (now < dueAt) return;
      for (const aheadMs of [0, ...(await timesAhead(db))]) await ensurePartitions(db, now + aheadMs);
      dueAt = now + HOUR_MS;
    },
  };
}
