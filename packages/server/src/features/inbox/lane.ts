import { Fault } from '../../base/fault.ts';
import type { Tx } from '../../io/db/index.ts';
import { insertLane, type LaneRow, lockLaneRow } from './store.ts';

/** A project's lane hands out the sequence of its accepted records and counts those that wait. */
export function openLane(tx: Tx, projectId: number): Promise<void> {
  return insertLane(tx, projectId);
}

/**
 * Until the transaction ends nothing is accepted for this project, in any process: the accept flush takes the same
 * lock first. What must come before or after a flush as a whole (a revocation, a suspension) is done under it.
 */
export async function lockLane(tx: Tx, projectId: number): Promise<LaneRow> {
  const lane = await lockLaneRow(tx, projectId);
  if (lane) return lane;
  throw new Fault('not_found', { details: [{ message: `There is no project with the id ${projectId}` }] });
}
