import type { Tx } from '../../platform/db/statements.ts';
import { isId, unknownAudience } from './audience.ts';
import { listAudienceRows } from './reads.ts';

export type Audience = { id: string; name: string; createdAt: Date; updatedAt: Date };

/** Finds an audience by its id or its name. Names are unique in a project. */
export async function findAudience(
  tx: Tx,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<Audience> {
  // PostgreSQL cannot store a NUL character, so no name contains one.
  if (reference.includes('\0')) throw unknownAudience(reference);
  const id = isId(reference) ? reference : null;
  const [row] = await listAudienceRows(tx, { projectId, id, name: reference.trim() });
  if (!row) throw unknownAudience(reference);
  return { id: row.id, name: row.name, createdAt: row.created_at, updatedAt: row.updated_at };
}
