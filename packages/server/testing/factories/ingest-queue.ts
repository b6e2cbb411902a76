import { encodeChunk, type IngestPriority } from '../../src/modules/ingest/queue/chunk.ts';
import { lockQueue } from '../../src/modules/ingest/queue/queue.ts';
import { insertChunks, updateQueueAdvanced } from '../../src/modules/ingest/queue/store.ts';
import type { Database } from '../../src/platform/db/database.ts';

export type Put = {
  projectId: number;
  priority?: IngestPriority;
  kind: 'users' | 'events';
  records: object[];
  acceptedAt?: Date;
};

/** Writes a chunk into the ingest queue as the accept path does, without the API. Returns the sequence of its first record. */
export function putRecords(db: Pick<Database, 'transaction' | 'clock'>, put: Put): Promise<number> {
  const { projectId, priority = 'live', kind, records, acceptedAt = new Date(db.clock.now()) } = put;
  return db.transaction(async (tx) => {
    const { next_seq: seq } = await lockQueue(tx, projectId);
    const body = encodeChunk(JSON.stringify(records));
    await insertChunks(tx, projectId, [
      { seq, priority, kind, records: records.length, body, accepted_at: acceptedAt },
    ]);
    await updateQueueAdvanced(tx, { projectId, records: records.length });
    return seq;
  });
}
