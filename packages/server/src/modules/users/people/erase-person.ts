import type { Tx } from '../../../platform/db/statements.ts';
import { deletePersonRows, insertErasure } from './store.ts';

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
