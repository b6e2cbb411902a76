import type { Tx } from '../../platform/db/statements.ts';
import { countPeople as count } from './reads.ts';

/** The count only shows the progress of a build. The build itself counts the users that it finds. */
const COUNTED_MAX = 5_000_000;

/** Counts the users to evaluate. Call it before taking the project lock where possible, so that no other process waits for the count. */
export function countPeople(tx: Tx, projectId: number): Promise<number> {
  return count(tx, projectId, COUNTED_MAX);
}
