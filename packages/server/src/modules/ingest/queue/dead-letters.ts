import type { DeadLetter } from '@beckon/contract/dashboard';
import { encodeChunk, type ChunkProgress } from './chunk.ts';
import { lockQueue } from './queue.ts';
import {
  type ChunkRow,
  type DeadRow,
  deleteDead,
  findLastDeadSeq,
  insertChunks,
  insertDead,
  listDeadRows,
  updateQueueAdvanced,
} from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { parseJson } from '../../../platform/text/parse-json.ts';

/** A record that the database rejects. It no longer waits and does not block other records. `retryDead` puts it back into the queue. */
type DeadRecord = Pick<ChunkProgress, 'projectId' | 'priority'> & {
  seq: number;
  kind: 'users' | 'events';
  acceptedAt: Date;
  record: unknown;
};

export function deadLetterRecord(
  tx: Tx,
  dead: DeadRecord,
  { reason, at }: { reason: string; at: Date },
): Promise<void> {
  return insertDead(tx, {
    project_id: dead.projectId,
    seq: dead.seq,
    priority: dead.priority,
    kind: dead.kind,
    record: keepable(dead.record),
    reason,
    accepted_at: dead.acceptedAt,
    dead_lettered_at: at,
  });
}

/** Replaces characters that jsonb cannot store: NUL and lone surrogates. They may be the very reason why the record was rejected. */
function keepable(record: unknown): string {
  return JSON.stringify(record)
    .replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '\\ufffd')
    .toWellFormed();
}

const DEAD_LISTED_MAX = 1_000;

/** Lists the dead-lettered records in the order of acceptance. */
export async function listDead(tx: Tx, projectId: number): Promise<DeadLetter[]> {
  const rows = await listDeadRows(tx, projectId, DEAD_LISTED_MAX);
  return rows.map((row) => ({
    ...row,
    accepted_at: row.accepted_at.toISOString(),
    dead_lettered_at: row.dead_lettered_at.toISOString(),
    record: parseJson(row.record),
  }));
}

/** The number of records per transaction. While it runs, nothing is accepted for the project. */
export const RETRY_MAX_RECORDS = 500;

/**
 * Puts dead-lettered records back at the end of the ingest queue, in order and with new sequence numbers. Records dead-lettered again in
 * that time are left, because it stops at the last one found at its start. `seqs` limits it to these. Null means all.
 */
export async function retryDead(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
  projectId: number,
  seqs: number[] | null = null,
): Promise<{ retried: number }> {
  const upTo = await findLastDeadSeq(db, projectId);
  let retried = 0;
  for (let moved = upTo === null ? 0 : RETRY_MAX_RECORDS; moved === RETRY_MAX_RECORDS; retried += moved) {
    moved = await db.transaction((tx) => moveBatch(tx, { projectId, upTo: upTo ?? 0, seqs }));
  }
  return { retried };
}

/** Deletes dead-lettered records for good and returns their number. */
export async function discardDead(
  db: Pick<Database, 'transaction'>,
  { projectId, seqs }: { projectId: number; seqs: number[] },
): Promise<{ discarded: number }> {
  // With the queue row locked, only one of two concurrent decisions about a record is applied.
  const deleted = await db.transaction(async (tx) => {
    await lockQueue(tx, projectId);
    return deleteDead(tx, { projectId, upTo: Number.MAX_SAFE_INTEGER, seqs, limit: seqs.length });
  });
  return { discarded: deleted.length };
}

type Batch = { projectId: number; upTo: number; seqs: number[] | null };

async function moveBatch(tx: Tx, { projectId, upTo, seqs }: Batch): Promise<number> {
  const queue = await lockQueue(tx, projectId);
  const deleted = await deleteDead(tx, { projectId, upTo, seqs, limit: RETRY_MAX_RECORDS });
  if (deleted.length === 0) return 0;
  const rows = deleted.toSorted((a, b) => a.seq - b.seq);
  await insertChunks(tx, projectId, toChunks(rows, queue.next_seq));
  await updateQueueAdvanced(tx, { projectId, records: rows.length });
  return rows.length;
}

/**
 * Groups adjacent records with equal columns into chunks. They keep their time of acceptance, which is the time of an event without its own
 * time.
 */
function toChunks(rows: DeadRow[], firstSeq: number): ChunkRow[] {
  const runs: DeadRow[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run?.[0] && belongTogether(run[0], row)) run.push(row);
    else runs.push([row]);
  }
  let seq = firstSeq;
  return runs.flatMap((run) => {
    const [first] = run;
    if (!first) return [];
    const { priority, kind, accepted_at } = first;
    const body = encodeChunk(`[${run.map((row) => row.record).join(',')}]`);
    const chunk = { seq, priority, kind, records: run.length, body, accepted_at };
    seq += run.length;
    return [chunk];
  });
}

function belongTogether(a: DeadRow, b: DeadRow): boolean {
  return (
    a.priority === b.priority && a.kind === b.kind && a.accepted_at.getTime() === b.accepted_at.getTime()
  );
}
