/**
 * Event names that are counted forever per user, because an audience or a rule uses them without a time window. The background counts a new
 * name user by user in byte order. Processing counts new events for users up to `countedTo` and leaves the others to the background.
 */

import { compareBytes } from '../../../platform/text/byte-order.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { countNextUsers, listCounted, updateCounted } from './store.ts';

export type CountProgress = { countedTo: string | null; isWhole: boolean };
export type CountedNames = ReadonlyMap<string, CountProgress>;

export async function findCounted(tx: Tx, projectIds: number[]): Promise<Map<number, CountedNames>> {
  const found = new Map<number, Map<string, CountProgress>>();
  for (const row of await listCounted(tx, projectIds)) {
    const names = found.get(row.project_id) ?? new Map<string, CountProgress>();
    names.set(row.name, { countedTo: row.counted_to, isWhole: row.is_whole });
    found.set(row.project_id, names);
  }
  return found;
}

export function isCountedFor(counted: CountProgress | undefined, userId: string): boolean {
  if (!counted) return false;
  return counted.isWhole || (counted.countedTo !== null && compareBytes(userId, counted.countedTo) <= 0);
}

/** Counts the next users in order, and returns the last one. If there are none, all are counted. Requires the project lock. */
export async function countOn(
  tx: Tx,
  { projectId, name, after, limit }: { projectId: number; name: string; after: string | null; limit: number },
): Promise<string | null> {
  const last = await countNextUsers(tx, { projectId, name, after: after ?? '', limit });
  await updateCounted(tx, { project_id: projectId, name, counted_to: last, is_whole: last === null });
  return last;
}
