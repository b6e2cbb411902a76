import { IDEMPOTENCY_WINDOW_MS } from '@beckon/contract';
import { deleteIdempotencyKeys } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';

/** A request that just lost a race against an answer still reads it. The margin also protects valid answers from a clock change. */
const MARGIN_MS = 2 * 60 * 60 * 1_000;
/** Takes a few milliseconds, so no request waits for it for long. */
const STEP = 1_000;

/** Deletes idempotency keys after 24 hours. They count as absent from then on, so this only frees space. */
export async function deleteExpiredKeys(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  { stopping }: JobRun,
): Promise<void> {
  const before = new Date(db.clock.now() - IDEMPOTENCY_WINDOW_MS - MARGIN_MS);
  let from: Date | null = null;
  while (!stopping.aborted) {
    const { deleted, reached } = await deleteIdempotencyKeys(db, { before, from, limit: STEP });
    if (deleted < STEP) return;
    from = reached;
  }
}
