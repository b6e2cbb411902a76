import { ensurePartitions } from '../features/events/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Duty } from './timetable.ts';

const HOUR_MS = 3_600_000;
const LOOK_EVERY_MS = 5_000;

/**
 * The months ahead have their partitions before anything is stored there: soon after the start, then every hour. An attempt
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
      await ensurePartitions(db, now);
      dueAt = now + HOUR_MS;
    },
  };
}
