import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { readDefinition, readName } from './audience.ts';
import { checkUnused, type NewEdition } from './create-audience.ts';
import { type Current, listCurrent, newest } from './current-versions.ts';
import { type Audience, findAudience } from './find-audience.ts';
import { checkReferences } from './references.ts';
import { insertEdition, retireEditions, updateAudience } from './store.ts';

export type AudienceEdit = {
  projectId: number;
  /** The id or name of the audience. */
  reference: string;
  name?: string | undefined;
  definition?: unknown;
  /** The version that the member saw. If the audience changed since then, the edit is rejected. */
  seenAt?: Date | undefined;
};
type Deps = { tx: Tx; clock: Clock };

/**
 * Edits an audience. A new definition (`isRebuilt`) is built beside the one served, which answers until then. Requires the project lock.
 */
export async function editAudience(
  deps: Deps,
  wanted: AudienceEdit & NewEdition,
): Promise<Audience & { isRebuilt: boolean }> {
  const { projectId, definition } = wanted;
  const { id } = await findAudience(deps.tx, wanted);
  const audiences = await listCurrent(deps.tx, projectId);
  const audience = pick(audiences, id);
  if (wanted.seenAt && wanted.seenAt.getTime() !== audience.updatedAt.getTime())
    throw changedMeanwhile(audience);
  const name = wanted.name === undefined ? audience.name : readName(wanted.name);
  const others = audiences.filter((other) => other.id !== id);
  checkUnused(name, others);
  const updatedAt = new Date(deps.clock.now());
  await updateAudience(deps.tx, { project_id: projectId, id, name, updated_at: updatedAt });
  if (definition !== undefined) checkReferences(audiences, id, readDefinition(definition));
  const isRebuilt = definition !== undefined && !isDeepStrictEqual(definition, newest(audience).definition);
  if (isRebuilt) await open(deps, { ...wanted, audienceId: id, definition });
  return { id, name, createdAt: audience.createdAt, updatedAt, isRebuilt };
}

function changedMeanwhile({ name, updatedAt }: Current): Fault {
  const message = `The audience ${JSON.stringify(name)} changed at ${updatedAt.toISOString()}, after you loaded it. Reload it and try again`;
  return new Fault('conflict', { details: [{ message }] });
}

/** Evaluates all users again because an audience that the definition refers to changed. Requires the project lock. */
export async function rebuildAudience(
  deps: Deps,
  wanted: { projectId: number; audienceId: string } & NewEdition,
): Promise<void> {
  const audience = pick(await listCurrent(deps.tx, wanted.projectId), wanted.audienceId);
  await open(deps, { ...wanted, definition: newest(audience).definition });
}

function pick(audiences: Current[], id: string): Current {
  const audience = audiences.find((one) => one.id === id);
  if (audience) return audience;
  throw new Error(`audience ${id} has no current edition`);
}

/** Replaces a definition that is still being built, because it is not served yet. */
async function open(
  { tx, clock }: Deps,
  wanted: { projectId: number; audienceId: string; definition: unknown } & NewEdition,
): Promise<void> {
  const { projectId, audienceId, definition, edition, people } = wanted;
  await retireEditions(tx, { projectId, audienceId, states: ['building'] });
  const createdAt = new Date(clock.now());
  await insertEdition(tx, { projectId, edition, audienceId, definition, people, createdAt });
}
