import type { Tx } from '../../../platform/db/statements.ts';
import { parseChunk, unpackChunk } from './chunk.ts';
import { type ChunkQuestion, listChunks, listOldest, listPlaces, settleChunks } from './store.ts';

export type Priority = 'live' | 'bulk';

/** A project with waiting records: how many the first chunk of each priority holds, or 0. */
export type Place = { projectId: number; live: number; bulk: number };

/** Lists projects by id after `after` and then from the start, so that each gets its turn. */
export async function placesWaiting(
  tx: Tx,
  { after, limit }: { after: number; limit: number },
): Promise<Place[]> {
  const behind = await listPlaces(tx, after, limit);
  const round = after > 0 && behind.length < limit ? await listPlaces(tx, 0, limit - behind.length) : [];
  const rows = [...behind, ...round.filter((row) => row.project_id <= after)];
  return rows.map((row) => ({
    projectId: row.project_id,
    live: row.live ?? 0,
    bulk: row.bulk ?? 0,
  }));
}

/** A waiting chunk: its records from the first that is not applied yet. `seq` is the sequence number of that record. */
export type WaitingChunk = {
  projectId: number;
  priority: Priority;
  /** The sequence number of the chunk's first record, which identifies the row. */
  rowSeq: number;
  seq: number;
  kind: 'users' | 'events';
  acceptedAt: Date;
  records: unknown[];
  /** The approximate size of these records as JSON. */
  bytes: number;
};

/** Reads the waiting records of a priority in the order of acceptance. Requires the locks of these projects. */
export async function takeChunks(tx: Tx, asked: ChunkQuestion): Promise<WaitingChunk[]> {
  const rows = await listChunks(tx, asked);
  const chunks: WaitingChunk[] = [];
  for (const row of rows) {
    const json = unpackChunk(row.body);
    const all = await parseChunk(json);
    const records = row.applied === 0 ? all : all.slice(row.applied);
    chunks.push({
      projectId: row.project_id,
      priority: asked.priority,
      rowSeq: row.seq,
      seq: row.seq + row.applied,
      kind: row.kind,
      acceptedAt: row.accepted_at,
      records,
      bytes: (json.length * records.length) / all.length,
    });
  }
  return chunks;
}

/** Returns the sequence number of the oldest waiting record for each of these projects that has one. */
export async function oldestWaiting(
  tx: Tx,
  projectIds: number[],
  priority: Priority,
): Promise<Map<number, number>> {
  const rows = await listOldest(tx, projectIds, priority);
  return new Map(rows.map((row) => [row.project_id, row.seq]));
}

/** How many of a chunk's waiting records were handled. */
export type Taken = {
  projectId: number;
  priority: Priority;
  rowSeq: number;
  records: number;
  isWhole: boolean;
};

export function settle(tx: Tx, taken: Taken[]): Promise<void> {
  return settleChunks(
    tx,
    taken.map(({ projectId, priority, rowSeq, records, isWhole }) => ({
      project_id: projectId,
      priority,
      seq: rowSeq,
      records,
      is_whole: isWhole,
    })),
  );
}
