import type { Tx } from '../../io/db/index.ts';

/** `lane`, `inbox` and `dead_letter`. A chunk at `seq` holds the records `seq` to `seq + records - 1`. */
export type LaneRow = { next_seq: number; waiting: number };

export async function insertLane(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`INSERT INTO beckon.lane (project_id, next_seq, waiting) VALUES ($1, 1, 0)`, [projectId]);
}

export async function lockLaneRow(tx: Tx, projectId: number): Promise<LaneRow | undefined> {
  const rows = await tx.query<LaneRow>(
    `SELECT next_seq, waiting FROM beckon.lane WHERE project_id = $1 FOR UPDATE`,
    [projectId],
  );
  return rows[0];
}

export async function updateLaneAdvanced(
  tx: Tx,
  { projectId, records }: { projectId: number; records: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.lane SET next_seq = next_seq + $2, waiting = waiting + $2 WHERE project_id = $1`,
    [projectId, records],
  );
}

export type WaitingRow = { live: number; bulk: number; dead: number; oldest_at: Date | null };

export async function findWaiting(tx: Tx, projectId: number): Promise<WaitingRow | undefined> {
  const rows = await tx.query<WaitingRow>(
    `SELECT coalesce(sum(records) FILTER (WHERE lane = 'live'), 0)::bigint AS live,
            coalesce(sum(records) FILTER (WHERE lane = 'bulk'), 0)::bigint AS bulk,
            (SELECT count(*) FROM beckon.dead_letter WHERE project_id = $1) AS dead,
            min(accepted_at) AS oldest_at
     FROM beckon.inbox WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}

export type DeadRow = {
  seq: number;
  lane: 'live' | 'bulk';
  kind: 'users' | 'events';
  reason: string;
  accepted_at: Date;
  died_at: Date;
  /** JSON text: what is only moved need not be parsed. */
  record: string;
};

export function listDeadRows(tx: Tx, projectId: number, limit: number): Promise<DeadRow[]> {
  return tx.query(
    `SELECT seq, lane, kind, reason, accepted_at, died_at, record::text AS record FROM beckon.dead_letter
     WHERE project_id = $1 ORDER BY seq LIMIT $2`,
    [projectId, limit],
  );
}

export async function findLastDeadSeq(tx: Tx, projectId: number): Promise<number | null> {
  const rows = await tx.query<{ seq: number | null }>(
    `SELECT max(seq) AS seq FROM beckon.dead_letter WHERE project_id = $1`,
    [projectId],
  );
  return rows[0]?.seq ?? null;
}

/** Takes the first letters out, at most `limit` and none above `upTo`; the order of rows is not that of `seq`. */
export function deleteDead(
  tx: Tx,
  { projectId, upTo, limit }: { projectId: number; upTo: number; limit: number },
): Promise<DeadRow[]> {
  return tx.query(
    `WITH first AS MATERIALIZED (
       SELECT seq FROM beckon.dead_letter WHERE project_id = $1 AND seq <= $2 ORDER BY seq LIMIT $3
     )
     DELETE FROM beckon.dead_letter WHERE project_id = $1 AND seq = ANY (ARRAY(SELECT seq FROM first))
     RETURNING seq, lane, kind, reason, accepted_at, died_at, record::text AS record`,
    [projectId, upTo, limit],
  );
}

export type ChunkRow = {
  seq: number;
  lane: string;
  kind: string;
  records: number;
  body: Buffer;
  accepted_at: Date;
};

export async function insertChunks(tx: Tx, projectId: number, chunks: ChunkRow[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.inbox (project_id, seq, lane, kind, records, body, accepted_at)
     SELECT $1::bigint, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::bytea[], $7::timestamptz[])`,
    [
      projectId,
      chunks.map((chunk) => chunk.seq),
      chunks.map((chunk) => chunk.lane),
      chunks.map((chunk) => chunk.kind),
      chunks.map((chunk) => chunk.records),
      chunks.map((chunk) => chunk.body),
      chunks.map((chunk) => chunk.accepted_at),
    ],
  );
}
