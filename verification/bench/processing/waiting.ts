import type { Database } from '../../../packages/server/src/platform/db/database.ts';

export async function waitingOf(db: Database, projectId: number): Promise<number> {
  const rows = await db.query<{ waiting: number }>(
    'SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1',
    [projectId],
  );
  return rows[0]?.waiting ?? 0;
}

export type ProcessedRecords = { records: number; seconds: number; perSecond: number };

const POLL_MS = 5;
const GIVE_UP_MS = 600_000;

/** Returns the time from the first completed batch until no record waits, so neither startup nor polling counts. */
export async function untilProcessed(
  db: Database,
  { projectId, records: all }: { projectId: number; records: number },
): Promise<ProcessedRecords> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  let first: { at: number; waiting: number } | null = null;
  for (;;) {
    const waiting = await waitingOf(db, projectId);
    const at = performance.now();
    if (waiting < all) first ??= { at, waiting };
    if (waiting === 0 && first) {
      const seconds = (at - first.at) / 1_000;
      return { records: first.waiting, seconds, perSecond: first.waiting / seconds };
    }
    if (at > giveUpAt) throw new Error(`${waiting} records still wait after ${GIVE_UP_MS / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Holds a project lock while `work` runs, so that the project's records wait in front of a warm worker. `work` receives a function that
 * releases the lock early. The connection is always returned to the pool, because the pool could not close otherwise.
 */
export async function withProjectLock<T>(
  db: Database,
  projectId: number,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const session = await db.session();
  let isHeld = true;
  const release = async (): Promise<void> => {
    if (!isHeld) return;
    isHeld = false;
    await session.script('COMMIT');
  };
  try {
    await session.script('BEGIN');
    await session.query('SELECT 1 FROM beckon.project_lock WHERE project_id = $1 FOR UPDATE', [projectId]);
    return await work(release);
  } finally {
    await release();
    session.release();
  }
}
