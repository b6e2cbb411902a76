import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { Tx } from '../../platform/db/statements.ts';
import { encodeChunk, lockQueue, insertChunks, updateQueueAdvanced } from '../ingest/index.ts';

export type ImportedRecords = { kind: 'users' | 'events'; records: string[] };

/**
 * Adds records of an import, as texts, to the end of the ingest queue. Adds nothing and returns false if the queue is as long as the limit
 * for bulk requests. The queue row stays locked until the transaction ends, so nothing may follow but the commit. The same commit stores
 * the progress of the import, so a crash cannot separate the two.
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
