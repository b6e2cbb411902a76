import type { Tx } from '../../io/db/index.ts';
import { findIdBefore } from './reads.ts';
import {
  countErasures,
  deletePersonRows,
  deleteSpentErasures,
  insertErasure,
  listErasedProjects,
} from './store.ts';

type Person = { projectId: number; userId: string };

/** With the project's turn taken. */
export function erasePersonRows(
  tx: Tx,
  { projectId, userId }: Person,
): Promise<{ person: number; person_email: number }> {
  return deletePersonRows(tx, projectId, userId);
}

/** Whatever was accepted about this person before this sequence, and still waits, is dropped when its turn comes. */
export function rememberErasure(
  tx: Tx,
  { projectId, userId, seq, at }: Person & { seq: number; at: Date },
): Promise<void> {
  return insertErasure(tx, { project_id: projectId, external_user_id: userId, seq, erased_at: at });
}

/** With the turn taken: erasures that nothing waiting is older than are forgotten, and with them the last trace of an id. */
export function forgetErasures(tx: Tx, projectId: number): Promise<number> {
  return deleteSpentErasures(tx, projectId);
}

/** Erasures of a project for which something may still wait that is to be dropped. */
export function countErasuresWaiting(tx: Tx, projectId: number): Promise<number> {
  return countErasures(tx, projectId);
}

export async function listErased(tx: Tx): Promise<number[]> {
  return (await listErasedProjects(tx)).map((row) => row.project_id);
}

/** Who stands right before a person, where their place in the order must be told without naming them. */
export function idBefore(tx: Tx, person: Person): Promise<string | null> {
  return findIdBefore(tx, person);
}
