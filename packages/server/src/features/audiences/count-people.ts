import type { Tx } from '../../io/db/index.ts';
import { countPeople as count } from './reads.ts';

/** It only tells how far a build has come, and a build counts for itself what it finds. */
const COUNTED_MAX = 5_000_000;

/** So many people will have to be asked; counted before the turn is taken where that can be, so that nobody waits for it. */
export function countPeople(tx: Tx, projectId: number): Promise<number> {
  return count(tx, projectId, COUNTED_MAX);
}
