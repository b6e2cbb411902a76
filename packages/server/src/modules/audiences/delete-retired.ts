import type { Tx } from '../../platform/db/statements.ts';
import type { EditionPlace } from './build-version.ts';
import { listUnfinished } from './reads.ts';
import { deleteEdition, deleteSomeOfRetired } from './store.ts';

/** Lists retired editions of all projects. */
export async function listRetired(tx: Tx, limit: number): Promise<EditionPlace[]> {
  return (await listUnfinished(tx, 'retired', { limit, after: null })).map(({ project_id, edition }) => ({
    projectId: project_id,
    edition,
  }));
}

/** Deletes up to `limit` rows of a retired edition, which keeps transactions short. Returns true when no row is left. */
export async function deleteRetired(
  tx: Tx,
  { projectId, edition, limit }: EditionPlace & { limit: number },
): Promise<boolean> {
  const place = { projectId, edition };
  const members = await deleteSomeOfRetired(tx, 'audience_member', { ...place, limit });
  if (members >= limit) return false;
  const left = limit - members;
  if ((await deleteSomeOfRetired(tx, 'audience_due', { ...place, limit: left })) >= left) return false;
  await deleteEdition(tx, projectId, edition);
  return true;
}
