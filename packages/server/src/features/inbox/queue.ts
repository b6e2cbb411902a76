import { Fault } from '../../base/fault.ts';
import type { Tx } from '../../io/db/index.ts';
import { insertQueue, type QueueRow, lockQueueRow } from './store.ts';

/** A project's queue row hands out the sequence of its accepted records and counts those that wait. */
export function openQueue(tx: Tx, projectId: number): Promise<void> {
  return insertQueue(tx, projectId);
}

/**
 * Until the transaction ends nothing is accepted for this project, in any process: the accept flush takes the same
 * lock first. What must come before or after a flush as a whole (a revocation, a suspension) is done under it.
 */
export async function lockQueue(tx: Tx, projectId: number): Promise<QueueRow> {
  const queue = await lockQueueRow(tx, projectId);
  if (queue) return queue;
  throw new Fault('not_found', { details: [{ message: `No project has the ID ${projectId}` }] });
}
