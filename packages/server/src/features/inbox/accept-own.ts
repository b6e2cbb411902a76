import type { Tx } from '../../io/db/index.ts';
import { encodeChunk } from './chunk.ts';
import { lockLane } from './lane.ts';
import { insertChunks, updateLaneAdvanced } from './store.ts';

/**
 * Events that this installation itself tells of people, as the texts of records: they are accepted live, at the end of the
 * inbox. The lane stays locked until the transaction ends, so that nothing may come behind this but the commit.
 */
export async function acceptOwn(
  tx: Tx,
  { projectId, records, acceptedAt }: { projectId: number; records: string[]; acceptedAt: Date },
): Promise<void> {
  const { next_seq: seq } = await lockLane(tx, projectId);
  const body = encodeChunk(`[${records.join(',')}]`);
  await insertChunks(tx, projectId, [
    { seq, lane: 'live', kind: 'events', records: records.length, body, accepted_at: acceptedAt },
  ]);
  await updateLaneAdvanced(tx, { projectId, records: records.length });
}
