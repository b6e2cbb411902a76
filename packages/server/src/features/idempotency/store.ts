import type { Tx } from '../../io/db/index.ts';

/** A kept answer. A null body stands for the plain `{"data":{"accepted":true}}`, which most answers are. */
export type StoredAnswer = { fingerprint: Buffer; status: number; body: Buffer | null; acceptedAt: number };
export type StoredKey = { projectId: number; key: Buffer };
type FoundAnswer = StoredAnswer & StoredKey;

/** Answers kept under these keys since `after`; older ones count as absent even while their rows are still there. */
export async function findAnswers(db: Tx, keys: StoredKey[], after: Date): Promise<FoundAnswer[]> {
  const rows = await db.query<
    Omit<StoredAnswer, 'acceptedAt'> & { project_id: number; key: Buffer; accepted_at: Date }
  >(
    `SELECT i.project_id, i.key, i.fingerprint, i.status, i.body, i.accepted_at
     FROM unnest($1::bigint[], $2::bytea[]) AS k(project_id, key)
     CROSS JOIN LATERAL (
       SELECT * FROM beckon.idempotency i WHERE i.project_id = k.project_id AND i.key = k.key AND i.accepted_at > $3
     ) AS i`,
    [keys.map((key) => key.projectId), keys.map((key) => key.key), after],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    key: row.key,
    fingerprint: row.fingerprint,
    status: row.status,
    body: row.body,
    acceptedAt: row.accepted_at.getTime(),
  }));
}

/** Deletes at most `limit` answers accepted before `before`; says how many. In small steps, so that no lock is held long. */
export async function deleteAnswers(db: Tx, before: Date, limit: number): Promise<number> {
  const rows = await db.query<{ deleted: number }>(
    `WITH old AS (SELECT project_id, key FROM beckon.idempotency WHERE accepted_at < $1 LIMIT $2),
     gone AS (DELETE FROM beckon.idempotency i USING old
              WHERE i.project_id = old.project_id AND i.key = old.key AND i.accepted_at < $1 RETURNING 1)
     SELECT count(*) AS deleted FROM gone`,
    [before, limit],
  );
  return rows[0]?.deleted ?? 0;
}
