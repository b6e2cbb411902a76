import type { Tx } from '../../io/db/index.ts';
import { findFirstDue, listDueRows } from './reads.ts';

export type Due = { userId: string; edition: number; at: Date };

/** When next somebody must be asked again. */
export function nextDueAt(tx: Tx, projectId: number): Promise<Date | null> {
  return findFirstDue(tx, projectId);
}

/** Who must be asked again by now, the longest overdue first. Of a retired edition too: such a moment is only removed. */
export async function listDueNow(
  tx: Tx,
  wanted: { projectId: number; now: Date; limit: number },
): Promise<Due[]> {
  const rows = await listDueRows(tx, wanted);
  return rows.map(({ external_user_id, edition, at }) => ({ userId: external_user_id, edition, at }));
}
