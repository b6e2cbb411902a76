import type { Tx } from '../../../platform/db/statements.ts';
import { findIdBefore } from './reads.ts';
import {
  countErasures,
  deletePersonRows,
  deleteSpentErasures,
  insertErasure,
  listErasedProjects,
} from './store.ts';

type Person = { projectId: number; userId: string };

/** Requires the project lock. */
export function erasePersonRows(
  tx: Tx,
  { projectId, userId }: Person,
): Promise<{ person: number; person_email: number }> {
  return deletePersonRows(tx, projectId, userId);
}

/** Records an erasure. Waiting records about this user that were accepted before this sequence number are dropped during processing. */
export function rememberErasure(
  tx: Tx,
  { projectId, userId, seq, at }: Person & { seq: number; at: Date },
): Promise<void> {
  return insertErasure(tx, { project_id: projectId, external_user_id: userId, seq, erased_at: at });
}

/** Deletes erasures that no waiting record precedes, and with them the last trace of a user id. Requires the project lock. */
export function forgetErasures(tx: Tx, projectId: number): Promise<number> {
  return deleteSpentErasures(tx, projectId);
}

/** Counts the erasures of a project for which records to drop may still wait. */
export function countErasuresWaiting(tx: Tx, projectId: number): Promise<number> {
  return countErasures(tx, projectId);
}

export async function listErased(tx: Tx): Promise<number[]> {
  return (await listErasedProjects(tx)).map((row) => row.project_id);
}

/** Returns the id right before a user, to store a position without naming the erased user. */
export function idBefore(tx: Tx, person: Person): Promise<string | null> {
  return findIdBefore(tx, person);
}
