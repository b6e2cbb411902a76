import type { Clock } from '../../platform/time/clock.ts';
import { idMaker } from '../../platform/ids.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { AUDIENCES_MAX, invalid, readDefinition, readName } from './audience.ts';
import { listCurrent } from './current-versions.ts';
import type { Audience } from './find-audience.ts';
import { checkReferences } from './references.ts';
import { insertAudience, insertEdition } from './store.ts';

/** The number of a definition's edition, and how many users have to be evaluated for it. */
export type NewEdition = { edition: number; people: number };

/**
 * Creates an audience. Its members are found in the background, and until that ends it has those found so far. Requires the project lock.
 */
export async function createAudience(
  deps: { tx: Tx; clock: Clock },
  wanted: { projectId: number; name: string; definition: unknown } & NewEdition,
): Promise<Audience> {
  const { projectId, definition, edition, people } = wanted;
  const name = readName(wanted.name);
  const predicate = readDefinition(definition);
  const audiences = await listCurrent(deps.tx, projectId);
  if (audiences.length >= AUDIENCES_MAX)
    throw invalid(`This project has ${AUDIENCES_MAX} audiences, which is the maximum. Delete one first`);
  checkUnused(name, audiences);
  checkReferences(audiences, null, predicate);
  const id = idMaker(deps.clock)();
  const createdAt = new Date(deps.clock.now());
  await insertAudience(deps.tx, {
    project_id: projectId,
    id,
    name,
    created_at: createdAt,
    updated_at: createdAt,
  });
  await insertEdition(deps.tx, { projectId, edition, audienceId: id, definition, people, createdAt });
  return { id, name, createdAt, updatedAt: createdAt };
}

export function checkUnused(name: string, others: { name: string }[]): void {
  if (others.some((other) => other.name === name))
    throw invalid(`name is taken: another audience is called ${JSON.stringify(name)}`, 'name');
}
