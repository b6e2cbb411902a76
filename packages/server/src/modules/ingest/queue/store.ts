/** Reads and writes `ingest_queue_state`, `ingest_queue` and `dead_letter`. A chunk at `seq` holds the records `seq` to `seq + records - 1`. */

import type { Tx } from '../../../platform/db/statements.ts';

export type QueueRow = { next_seq: number; waiting: number };

/** Creates a project's queue row, which assigns sequence numbers to accepted records and counts the waiting ones. */
export async function openQueue(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`INSERT INTO beckon.ingest_queue_state (project_id, next_seq, waiting) VALUES ($1, 1, 0)`, [
    projectId,
  ]);
}

export async function lockQueueRow(tx: Tx, projectId: number): Promise<QueueRow | undefined> {
  const rows = await tx.query<QueueRow>(
    `SELECT next_seq, waiting FROM beckon.ingest_queue_state WHERE project_id = $1 FOR UPDATE`,
    [projectId],
  );
  return rows[0];
}

export async function updateQueueAdvanced(
  tx: Tx,
  { projectId, records }: { projectId: number; records: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.ingest_queue_state SET next_seq = next_seq + $2, waiting = waiting + $2 WHERE project_id = $1`,
    [projectId, records],
  );
}

export type WaitingRow = { live: number; bulk: number; dead: number; oldest_at: Date | null };

export async function findWaiting(tx: Tx, projectId: number): Promise<WaitingRow | undefined> {
  const rows = await tx.query<WaitingRow>(
    `SELECT coalesce(sum(records) FILTER (WHERE priority = 'live'), 0)::bigint AS live,
            coalesce(sum(records) FILTER (WHERE priority = 'bulk'), 0)::bigint AS bulk,
            (SELECT count(*) FROM beckon.dead_letter WHERE project_id = $1) AS dead,
            min(accepted_at) AS oldest_at
     FROM beckon.ingest_queue WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}

export type DeadRow = {
  seq: number;
  priority: 'live' | 'bulk';
  kind: 'users' | 'events';
  reason: string;
  accepted_at: Date;
  dead_lettered_at: Date;
  /** JSON text, because a record that is only moved need not be parsed. */
  record: string;
};

export function listDeadRows(tx: Tx, projectId: number, limit: number): Promise<DeadRow[]> {
  return tx.query(
    `SELECT seq, priority, kind, reason, accepted_at, dead_lettered_at, record::text AS record FROM beckon.dead_letter
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

/** Deletes and returns the first dead-lettered records: at most `limit`, none above `upTo`, only those in `seqs` if set. Unordered. */
export function deleteDead(
  tx: Tx,
  { projectId, upTo, seqs, limit }: { projectId: number; upTo: number; seqs: number[] | null; limit: number },
): Promise<DeadRow[]> {
  return tx.query(
    `WITH first AS MATERIALIZED (
       SELECT seq FROM beckon.dead_letter
       WHERE project_id = $1 AND seq <= $2 AND ($4::bigint[] IS NULL OR seq = ANY ($4)) ORDER BY seq LIMIT $3
     )
     DELETE FROM beckon.dead_letter WHERE project_id = $1 AND seq = ANY (ARRAY(SELECT seq FROM first))
     RETURNING seq, priority, kind, reason, accepted_at, dead_lettered_at, record::text AS record`,
    [projectId, upTo, limit, seqs],
  );
}

export type ChunkRow = {
  seq: number;
  priority: string;
  kind: string;
  records: number;
  body: Buffer;
  accepted_at: Date;
};

export async function insertChunks(tx: Tx, projectId: number, chunks: ChunkRow[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at)
     SELECT $1::bigint, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::bytea[], $7::timestamptz[])`,
    [
      projectId,
      chunks.map((chunk) => chunk.seq),
      chunks.map((chunk) => chunk.priority),
      chunks.map((chunk) => chunk.kind),
      chunks.map((chunk) => chunk.records),
      chunks.map((chunk) => chunk.body),
      chunks.map((chunk) => chunk.accepted_at),
    ],
  );
}

export type BacklogRow = { project_id: number; live: number | null; bulk: number | null };

export type WaitingChunkRow = {
  project_id: number;
  seq: number;
  kind: 'users' | 'events';
  records: number;
  applied: number;
  body: Buffer;
  accepted_at: Date;
};

export type ChunkQuery = {
  projectIds: number[];
  priority: 'live' | 'bulk';
  /** Limits for the records per project, the records in total, and the bytes: those stored in total, and those of the JSON per project. */
  ofEach: number;
  ofAll: number;
  bytes: number;
};

/** Lists the first chunks of each project, round-robin until the limits are reached, by project and sequence. */
export function listChunks(tx: Tx, query: ChunkQuery): Promise<WaitingChunkRow[]> {
  return tx.prepared({
    name: 'ingest_queue.chunks',
    text: `SELECT project_id, seq, kind, records, applied, body, accepted_at FROM (
             SELECT c.*, sum(waiting) OVER slots - waiting AS before_all, sum(bytes) OVER slots - bytes AS bytes_before
             FROM (
               SELECT i.*, least(i.records - i.applied, $3::int) AS waiting, octet_length(i.body) AS bytes, project.n AS project_n,
                      row_number() OVER of_project AS slot, sum(i.records - i.applied) OVER of_project - (i.records - i.applied) AS before
               FROM unnest($1::bigint[]) WITH ORDINALITY AS project(project_id, n)
               CROSS JOIN LATERAL (
                 SELECT * FROM beckon.ingest_queue x WHERE x.project_id = project.project_id AND x.priority = $2 ORDER BY x.seq LIMIT $3
               ) i
               WINDOW of_project AS (PARTITION BY i.project_id ORDER BY i.seq)
             ) c
             WHERE before < $3
             WINDOW slots AS (ORDER BY slot, project_n)
           ) chunks
           WHERE before_all < $4 AND (bytes_before < $5 OR before_all = 0)
           ORDER BY project_id, seq`,
    values: [query.projectIds, query.priority, query.ofEach, query.ofAll, query.bytes],
  });
}

export type OldestRow = { project_id: number; seq: number };

/** Lists the oldest waiting record of a priority for each project. */
export function listOldest(tx: Tx, projectIds: number[], priority: 'live' | 'bulk'): Promise<OldestRow[]> {
  return tx.prepared({
    name: 'ingest_queue.oldest',
    text: `SELECT project.project_id, i.seq + i.applied AS seq FROM unnest($1::bigint[]) AS project(project_id)
           CROSS JOIN LATERAL (
             SELECT seq, applied FROM beckon.ingest_queue x WHERE x.project_id = project.project_id AND x.priority = $2 ORDER BY x.seq LIMIT 1
           ) i`,
    values: [projectIds, priority],
  });
}

export type ChunkProgressRow = {
  project_id: number;
  priority: 'live' | 'bulk';
  seq: number;
  records: number;
  is_whole: boolean;
};

/** Removes processed records from the queue. The queue rows are locked last and in order, as in every flush. */
export async function settleChunks(tx: Tx, rows: ChunkProgressRow[]): Promise<void> {
  const whole = rows.filter((row) => row.is_whole);
  const parts = rows.filter((row) => !row.is_whole);
  const statements: Promise<unknown>[] = parts.map((row) => advanceChunk(tx, row));
  if (whole.length > 0) statements.push(deleteChunks(tx, whole));
  statements.push(
    tx.prepared({
      name: 'ingest_queue_state.settle',
      text: `WITH settled AS MATERIALIZED (
               SELECT l.project_id, t.records FROM (
                 SELECT project_id, sum(records) AS records FROM unnest($1::bigint[], $2::int[]) AS t(project_id, records) GROUP BY project_id
               ) t JOIN beckon.ingest_queue_state l ON l.project_id = t.project_id
               ORDER BY l.project_id FOR UPDATE OF l
             )
             UPDATE beckon.ingest_queue_state AS l SET waiting = l.waiting - settled.records FROM settled WHERE l.project_id = settled.project_id`,
      values: [rows.map((row) => row.project_id), rows.map((row) => row.records)],
    }),
  );
  await Promise.all(statements);
}

/**
 * Deletes chunks by primary key, one lookup each. The queue is empty whenever vacuum runs, so the planner assumes an empty table. It would
 * read the whole table for each deleted chunk, and a backlog would only grow.
 */
function deleteChunks(tx: Tx, rows: ChunkProgressRow[]): Promise<unknown> {
  return tx.prepared({
    name: 'ingest_queue.delete',
    text: `DELETE FROM beckon.ingest_queue WHERE ctid = ANY (ARRAY(
             SELECT i.ctid FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS t(project_id, priority, seq)
             CROSS JOIN LATERAL (
               SELECT ctid FROM beckon.ingest_queue x WHERE x.project_id = t.project_id AND x.priority = t.priority AND x.seq = t.seq LIMIT 1
             ) i
           ))`,
    values: [rows.map((row) => row.project_id), rows.map((row) => row.priority), rows.map((row) => row.seq)],
  });
}

/** Advances a long chunk. Only a bulk batch takes a part of a chunk, seldom of more than one. */
function advanceChunk(tx: Tx, row: ChunkProgressRow): Promise<unknown> {
  return tx.prepared({
    name: 'ingest_queue.advance',
    text: `UPDATE beckon.ingest_queue SET applied = applied + $4 WHERE project_id = $1 AND priority = $2 AND seq = $3`,
    values: [row.project_id, row.priority, row.seq, row.records],
  });
}

export type NewDeadRow = {
  project_id: number;
  seq: number;
  priority: 'live' | 'bulk';
  kind: 'users' | 'events';
  record: string;
  reason: string;
  accepted_at: Date;
  dead_lettered_at: Date;
};

export async function insertDead(tx: Tx, row: NewDeadRow): Promise<void> {
  const { project_id, seq, priority, kind, record, reason, accepted_at, dead_lettered_at } = row;
  await tx.query(
    `INSERT INTO beckon.dead_letter (project_id, seq, priority, kind, record, reason, accepted_at, dead_lettered_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [project_id, seq, priority, kind, record, reason, accepted_at, dead_lettered_at],
  );
}

/** Deletes dead-lettered records about a user, of any origin. */
export async function eraseDead(tx: Tx, projectId: number, userId: string): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.dead_letter WHERE project_id = $1 AND record ->> 'external_user_id' = $2 RETURNING seq`,
    [projectId, userId],
  );
  return rows.length;
}

/** Deletes at most `limit` records dead-lettered before a time, oldest first. */
export async function forgetDead(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.dead_letter WHERE project_id = $1 AND seq = ANY (ARRAY(
       SELECT seq FROM beckon.dead_letter WHERE project_id = $1 AND dead_lettered_at < $2 ORDER BY seq LIMIT $3
     )) RETURNING seq`,
    [projectId, before, limit],
  );
  return rows.length;
}
