import type { Tx } from '../../platform/db/statements.ts';
import { findFirstDue, listDueRows } from './reads.ts';

export type Due = { userId: string; edition: number; at: Date };

/** Returns the earliest time at which a user has to be evaluated again. */
export function nextDueAt(tx: Tx, projectId: number): Promise<Date | null> {
  return findFirstDue(tx, projectId);
}

/** Lists the timers that are due, the longest overdue first. This includes timers of retired editions, which are only removed. */
export async function listDueNow(
  tx: Tx,
  wanted: { projectId: number; now: Date; limit: number },
): Promise<Due[]> {
  const rows = await listDueRows(tx, wanted);
  return rows.map(({ external_user_id, edition, at }) => ({ userId: external_user_id, edition, at }));
}
