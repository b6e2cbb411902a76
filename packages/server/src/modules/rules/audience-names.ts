import type { Tx } from '../../platform/db/statements.ts';
import { loadModels } from '../audiences/index.ts';

/** Returns a lookup of the project's audience names by id. */
export async function audienceNames(tx: Tx, projectId: number): Promise<(id: string) => string | undefined> {
  const versions = (await loadModels(tx, [projectId])).get(projectId)?.versions ?? [];
  const names = new Map(versions.map(({ audienceId, name }) => [audienceId, name]));
  return (id) => names.get(id);
}
