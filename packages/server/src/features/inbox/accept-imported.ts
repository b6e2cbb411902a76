import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { Tx } from '../../io/db/index.ts';
import { encodeChunk } from './chunk.ts';
import { lockQueue } from './queue.ts';
import { insertChunks, updateQueueAdvanced } from './store.ts';

export type ImportedRecords = { kind: 'users' | 'events'; records: string[] };

/**
 * Records that an import brings, as texts, at the end of the inbox: false, and nothing is taken, where as many wait as a bulk
 * request would be refused for. The queue row stays locked until the transaction ends, so that nothing may come behind this but the
 * commit, in which the import says that it has brought them: no kill comes in between.
 */
export async function acceptImported(
  tx: Tx,
  { projectId, acceptedAt, brought }: { projectId: number; acceptedAt: Date; brought: ImportedRecords[] },
): Promise<boolean> {
  const { next_seq: first, waiting } = await lockQueue(tx, projectId);
  if (waiting >= INGEST_QUEUE_MAX_RECORDS) return false;
  const some = brought.filter(({ records }) => records.length > 0);
  let seq = first;
  for (const { kind, records } of some) {
    const body = encodeChunk(`[${records.join(',')}]`);
    const chunk = {
      seq,
      priority: 'bulk' as const,
      kind,
      records: records.length,
      body,
      accepted_at: acceptedAt,
    };
    await insertChunks(tx, projectId, [chunk]);
    seq += records.length;
  }
  if (seq > first) await updateQueueAdvanced(tx, { projectId, records: seq - first });
  return true;
}
