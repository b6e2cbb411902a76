import { mentionsOf } from '../../platform/predicate/mentions.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listCurrent, referencesOf } from './current-versions.ts';

/** Lists the audiences with a definition, served or being built, that names this one. */
export async function listReferrers(
  tx: Tx,
  projectId: number,
  audienceId: string,
): Promise<{ id: string; name: string }[]> {
  const audiences = await listCurrent(tx, projectId);
  return audiences
    .filter((audience) => referencesOf(audience).has(audienceId))
    .map(({ id, name }) => ({ id, name }));
}

/** Lists other audiences with an edition being built that depends on one of these, directly or through other editions being built. */
export async function listBuiltOn(tx: Tx, projectId: number, audienceIds: string[]): Promise<string[]> {
  const audiences = await listCurrent(tx, projectId);
  const found = new Set(audienceIds);
  for (const asked of found)
    for (const { id, building } of audiences)
      if (building && mentionsOf(building.predicate).audiences.has(asked)) found.add(id);
  return [...found].filter((id) => !audienceIds.includes(id));
}
