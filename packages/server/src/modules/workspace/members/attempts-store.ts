import type { Tx } from '../../../platform/db/statements.ts';

export type Counted = { count: number; windowEndsAt: Date };

/** Increments the count of this key. */
export async function countUse(
  tx: Tx,
  { key, now, windowEndsAt }: { key: string; now: Date; windowEndsAt: Date },
): Promise<Counted> {
  await tx.query(
    `DELETE FROM beckon.team_attempt WHERE key IN (SELECT key FROM beckon.team_attempt WHERE window_ends_at < $1
       ORDER BY window_ends_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
    [now],
  );
  const rows = await tx.query<Counted>(
    `INSERT INTO beckon.team_attempt AS a (key, count, window_ends_at) VALUES ($1, 1, $3)
     ON CONFLICT (key) DO UPDATE SET
       count = CASE WHEN a.window_ends_at <= $2 THEN 1 ELSE a.count + 1 END,
       window_ends_at = CASE WHEN a.window_ends_at <= $2 THEN $3 ELSE a.window_ends_at END
     RETURNING count, window_ends_at AS "windowEndsAt"`,
    [key, now, windowEndsAt],
  );
  const [counted] = rows;
  if (!counted) throw new Error('the counter row is missing');
  return counted;
}

export async function deleteCounts(tx: Tx, keys: string[]): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_attempt WHERE key = ANY ($1::text[])`, [keys]);
}

/** Decrements one key after the other, in the order in which attempts are counted. */
export async function decrementCounts(tx: Tx, keys: string[]): Promise<void> {
  for (const key of keys)
    await tx.query(`UPDATE beckon.team_attempt SET count = greatest(0, count - 1) WHERE key = $1`, [key]);
}
