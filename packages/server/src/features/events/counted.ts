import { compareBytes } from '../../base/byte-order.ts';
import type { Tx } from '../../io/db/index.ts';
import { listCounting } from './reads.ts';
import { insertCounted, listCounted, recount, updateCounted } from './store.ts';

/**
 * Names whose occurrences are counted for each person for ever, because an audience or a rule asks about them without a window. A
 * name that is new to this is counted in the background, person by person in the order of bytes: for people up to
 * `countedTo` the digest counts on, for the others it leaves everything to the background.
 */
export type Counted = { countedTo: string | null; isWhole: boolean };
export type CountedNames = ReadonlyMap<string, Counted>;

export const NOTHING_COUNTED: CountedNames = new Map();

export async function findCounted(tx: Tx, projectIds: number[]): Promise<Map<number, CountedNames>> {
  const found = new Map<number, Map<string, Counted>>();
  for (const row of await listCounted(tx, projectIds)) {
    const names = found.get(row.project_id) ?? new Map<string, Counted>();
    names.set(row.name, { countedTo: row.counted_to, isWhole: row.is_whole });
    found.set(row.project_id, names);
  }
  return found;
}

export function isCountedFor(counted: Counted | undefined, userId: string): boolean {
  if (!counted) return false;
  return counted.isWhole || (counted.countedTo !== null && compareBytes(userId, counted.countedTo) <= 0);
}

/** Projects that are not done with counting, behind `after` in the order of their ids. */
export function listCountingProjects(
  tx: Tx,
  page: { after: number | null; limit: number },
): Promise<number[]> {
  return listCounting(tx, page);
}

/** From now on these names are counted, beginning with nobody. With the project's turn taken. */
export function beginCounting(tx: Tx, projectId: number, names: string[]): Promise<void> {
  return insertCounted(tx, projectId, names);
}

/** The next people in order; none means that all are counted. With the project's turn taken. */
export async function countOn(
  tx: Tx,
  { projectId, name, users }: { projectId: number; name: string; users: string[] },
): Promise<void> {
  const last = users.at(-1);
  if (last !== undefined) await recount(tx, { projectId, name, users });
  await updateCounted(tx, {
    project_id: projectId,
    name,
    counted_to: last ?? null,
    is_whole: last === undefined,
  });
}
