import type { Tx } from '../../../platform/db/statements.ts';

/** A stored answer. A null body means `{"data":{"accepted":true}}`, the most frequent one. */
export type IdempotentReply = {
  fingerprint: string;
  status: number;
  body: string | null;
  acceptedAt: number;
};
/** Keys and fingerprints are in hex. */
export type StoredKey = { projectId: number; key: string };
type FoundIdempotentReply = IdempotentReply & StoredKey;

/** Finds the answers stored under these keys since `after`. Older ones count as absent even while their rows exist. */
export async function findIdempotentReplies(
  db: Tx,
  keys: StoredKey[],
  after: Date,
): Promise<FoundIdempotentReply[]> {
  const rows = await db.query<IdempotentReplyRow>(
    `SELECT i.project_id, encode(i.key, 'hex') AS key, encode(i.fingerprint, 'hex') AS fingerprint, i.status, i.body, i.accepted_at
     FROM unnest($1::bigint[], $2::text[]) AS k(project_id, key)
     CROSS JOIN LATERAL (
       SELECT * FROM beckon.idempotency i
       WHERE i.project_id = k.project_id AND i.key = decode(k.key, 'hex') AND i.accepted_at > $3
     ) AS i`,
    [keys.map((key) => key.projectId), keys.map((key) => key.key), after],
  );
  return rows.map(({ project_id: projectId, key, fingerprint, status, body, accepted_at: at }) => ({
    projectId,
    key,
    fingerprint,
    status,
    body: body?.toString() ?? null,
    acceptedAt: at.getTime(),
  }));
}

type IdempotentReplyRow = {
  project_id: number;
  key: string;
  fingerprint: string;
  status: number;
  body: Buffer | null;
  accepted_at: Date;
};

/**
 * Deletes at most `limit` answers accepted before `before`, oldest first. Returns how many and up to which time. Small steps keep locks
 * short. The next step starts at that time, past rows that are deleted but not vacuumed yet.
 */
export async function deleteIdempotencyKeys(
  db: Tx,
  { before, from, limit }: { before: Date; from: Date | null; limit: number },
): Promise<{ deleted: number; reached: Date | null }> {
  const rows = await db.query<{ deleted: number; reached: Date | null }>(
    `WITH old AS (SELECT project_id, key, accepted_at FROM beckon.idempotency
                  WHERE accepted_at < $1 AND accepted_at >= $2::timestamptz ORDER BY accepted_at LIMIT $3),
     gone AS (DELETE FROM beckon.idempotency i USING old
              WHERE i.project_id = old.project_id AND i.key = old.key AND i.accepted_at < $1 RETURNING 1)
     SELECT (SELECT count(*) FROM gone) AS deleted, (SELECT max(accepted_at) FROM old) AS reached`,
    [before, from ?? '-infinity', limit],
  );
  return rows[0] ?? { deleted: 0, reached: null };
}
