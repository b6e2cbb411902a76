import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import { Fault } from '../../../platform/fault.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { readEvent, readUser, type ReadRecord } from '../../../platform/records/record.ts';
import { findPair } from '../../workspace/index.ts';
import { encodeChunk } from '../queue/chunk.ts';
import { lockQueue } from '../queue/queue.ts';
import { type ChunkRow, insertChunks, updateQueueAdvanced } from '../queue/store.ts';

/** The event of the built-in welcome rule. */
export const TEST_EVENT = 'user_signed_up';

type TestEventInput = { projectId: number; userId: string; email: string; name: string };

/**
 * Accepts a user and a sign-up event as the public API does: the records are validated by the same functions, and queued with live
 * priority. A member's session takes the place of the API key, so the project is checked as the key would be.
 */
export async function sendTestEvent(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, userId, email, name }: TestEventInput,
): Promise<void> {
  const now = db.clock.now();
  const user = recordOf(readUser, { external_user_id: userId, email, traits: { name } }, now);
  const event = recordOf(readEvent, { external_user_id: userId, name: TEST_EVENT }, now);
  const acceptedAt = new Date(now);
  await db.transaction(async (tx) => {
    const { next_seq: seq, waiting } = await lockQueue(tx, projectId);
    await requireOpen(tx, projectId);
    if (waiting >= INGEST_QUEUE_MAX_RECORDS) throw conflict('The ingest queue of the project is full');
    await insertChunks(tx, projectId, [
      chunkOf(seq, { kind: 'users', record: user, acceptedAt }),
      chunkOf(seq + 1, { kind: 'events', record: event, acceptedAt }),
    ]);
    await updateQueueAdvanced(tx, { projectId, records: 2 });
  });
}

function recordOf(read: ReadRecord, value: object, now: number): string {
  const record = read(value, { now, checkStrings: true });
  if (typeof record === 'string') return record;
  throw new Fault('validation_failed', { details: record });
}

type QueuedRecord = { kind: 'users' | 'events'; record: string; acceptedAt: Date };

function chunkOf(seq: number, { kind, record, acceptedAt }: QueuedRecord): ChunkRow {
  const body = encodeChunk(`[${record}]`);
  return { seq, priority: 'live', kind, records: 1, body, accepted_at: acceptedAt };
}

/** The queue row is locked, so a suspension comes before or after. */
async function requireOpen(tx: Tx, projectId: number): Promise<void> {
  const { isSuspended, isClosed } = await findPair(tx, projectId);
  if (isSuspended) throw conflict('The project is suspended and accepts no events');
  if (isClosed) throw conflict('This sandbox is closed. Turn on the setting `sandbox` of its project');
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'project' }] });
}
