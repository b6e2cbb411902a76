import { storedPredicate } from './current-versions.ts';
import { type AudienceModel, buildModel, type AudienceVersionSource } from './model.ts';
import { type CurrentRow, listCurrentRows } from './reads.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Loads the current audience models of these projects. A project without audiences has an empty model. */
export async function loadModels(tx: Tx, projectIds: number[]): Promise<Map<number, AudienceModel>> {
  const rows = Map.groupBy(await listCurrentRows(tx, projectIds), ({ project_id }) => project_id);
  return new Map(projectIds.map((id) => [id, buildModel((rows.get(id) ?? []).map(toSource))]));
}

function toSource(row: CurrentRow): AudienceVersionSource {
  return {
    versionId: row.version_id,
    audienceId: row.audience_id,
    name: row.name,
    state: row.state,
    builtTo: row.built_to,
    built: row.built,
    predicate: storedPredicate(row),
  };
}

/** Lists the events that audiences count without a time window. Their counts must be kept forever. */
export async function listCountedNames(tx: Tx, projectId: number): Promise<string[]> {
  return [...((await loadModels(tx, [projectId])).get(projectId)?.totals ?? [])].sort();
}
