import type { Tx } from '../../platform/db/statements.ts';
import { encodeChunk, lockQueue, insertChunks, updateQueueAdvanced } from '../ingest/index.ts';

/**
 * Adds Beckon's own events about users, as record texts, to the end of the ingest queue with live priority. The queue row stays locked
 * until the transaction ends, so nothing may follow but the commit.
 */
export async function acceptOutcomeEvents(
  tx: Tx,
  { projectId, records, acceptedAt }: { projectId: number; records: string[]; acceptedAt: Date },
): Promise<void> {
  const { next_seq: seq } = await lockQueue(tx, projectId);
  const body = encodeChunk(`[${records.join(',')}]`);
  await insertChunks(tx, projectId, [
    { seq, priority: 'live', kind: 'events', records: records.length, body, accepted_at: acceptedAt },
  ]);
  await updateQueueAdvanced(tx, { projectId, records: records.length });
}
