import type { Database, Tx } from '../../io/db/index.ts';
import { countDeadRows, findWaiting } from './store.ts';

export type Waiting = {
  live: number;
  bulk: number;
  dead: number;
  /** Age of the record that waits longest; 0 where none waits. */
  oldest_ms: number;
};

export async function countWaiting(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<Waiting> {
  const row = await findWaiting(db, projectId);
  if (!row) return { live: 0, bulk: 0, dead: 0, oldest_ms: 0 };
  const oldestMs = row.oldest_at ? Math.max(0, db.clock.now() - row.oldest_at.getTime()) : 0;
  return { live: row.live, bulk: row.bulk, dead: row.dead, oldest_ms: oldestMs };
}

/** Records that could not be applied, counted no further than `max`. */
export function countDead(tx: Tx, projectId: number, max: number): Promise<number> {
  return countDeadRows(tx, projectId, max);
}

/** When the live record that waits longest was accepted, in real time; null where none waits. */
export async function oldestLiveAt(tx: Tx, projectId: number): Promise<number | null> {
  const rows = await tx.prepared<{ accepted_at: Date }>({
    name: 'inbox.oldest_live',
    text: `SELECT accepted_at FROM beckon.inbox WHERE project_id = $1 AND lane = 'live' ORDER BY seq LIMIT 1`,
    values: [projectId],
  });
  return rows[0]?.accepted_at.getTime() ?? null;
}
