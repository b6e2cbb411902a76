import { ensurePartitions, SANDBOX_MONTHS_AHEAD } from './partitions.ts';
import { listClockLeads } from '../../../platform/locks/store.ts';
import type { Database } from '../../../platform/db/database.ts';

const HOUR_MS = 3_600_000;

/**
 * Returns a job that creates the partitions of coming months before they are needed, soon after the start and then every hour. It also
 * covers the months that sandboxes have reached. An attempt yields to transactions that use events, and is retried at the next run.
 */
export function partitionKeeper(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
): () => Promise<void> {
  let dueAt = 0;
  return async () => {
    const now = db.clock.now();
    if (now < dueAt) return;
    await ensurePartitions(db, now);
    for (const aheadMs of await listClockLeads(db))
      await ensurePartitions(db, now + aheadMs, SANDBOX_MONTHS_AHEAD);
    dueAt = now + HOUR_MS;
  };
}
