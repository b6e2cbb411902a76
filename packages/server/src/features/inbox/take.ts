import type { Tx } from '../../io/db/index.ts';
import { parseChunk, unpackChunk } from './chunk.ts';
import { type ChunkQuestion, listChunks, listOldest, listPlaces, settleChunks } from './store.ts';

export type Priority = 'live' | 'bulk';

/** A project in which records wait: how many are in the first chunk of each priority, 0 where none is. */
export type Place = { projectId: number; live: number; bulk: number };

/** In order of their ids, beginning behind `after` and going round, so that everybody's turn comes. */
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

/** A chunk as it waits: its records from the first that was not applied yet, whose sequence is `seq`. */
export type WaitingChunk = {
  projectId: number;
  priority: Priority;
  /** By which the row is found; that of its first record. */
  rowSeq: number;
  seq: number;
  kind: 'users' | 'events';
  acceptedAt: Date;
  records: unknown[];
  /** Of these records as JSON, roughly. */
  bytes: number;
};

/** With the turns of these projects taken: what waits there in a priority, in the order of acceptance. */
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

/** For each of the projects in which something waits in that queue row: the sequence of what waits longest. */
export async function oldestWaiting(
  tx: Tx,
  projectIds: number[],
  priority: Priority,
): Promise<Map<number, number>> {
  const rows = await listOldest(tx, projectIds, priority);
  return new Map(rows.map((row) => [row.project_id, row.seq]));
}

/** How many of a chunk's waiting records were dealt with. */
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
