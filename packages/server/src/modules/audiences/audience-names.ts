import { loadModels } from './load-models.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Returns a lookup of the project's audience names by id. */
export async function audienceNames(tx: Tx, projectId: number): Promise<(id: string) => string | undefined> {
  const editions = (await loadModels(tx, [projectId])).get(projectId)?.editions ?? [];
  const names = new Map(editions.map(({ audienceId, name }) => [audienceId, name]));
  return (id) => names.get(id);
}
