import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { insertQueue, type QueueRow, lockQueueRow } from './store.ts';

/** Creates a project's queue row, which assigns sequence numbers to accepted records and counts the waiting ones. */
export function openQueue(tx: Tx, projectId: number): Promise<void> {
  return insertQueue(tx, projectId);
}

/**
 * Locks the queue row. Until the transaction ends, no process accepts records for this project, because each flush takes this lock first. A
 * change that must come before or after a flush as a whole, such as a revocation or suspension, needs this lock.
 */
export async function lockQueue(tx: Tx, projectId: number): Promise<QueueRow> {
  const queue = await lockQueueRow(tx, projectId);
  if (queue) return queue;
  throw new Fault('not_found', { details: [{ message: `No project has the ID ${projectId}` }] });
}
