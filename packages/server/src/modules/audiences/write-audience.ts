import { isDeepStrictEqual } from 'node:util';
import { type Audience, AUDIENCES_MAX, findAudience, invalid, readDefinition, readName } from './audience.ts';
import { type CurrentAudience, listCurrent, newestVersion } from './current-versions.ts';
import { checkReferences, listReferrers } from './references.ts';
import {
  deleteAudienceRows,
  insertAudience,
  insertAudienceVersion,
  retireAudienceVersions,
  updateAudience,
} from './store.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { idMaker } from '../../platform/ids.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** The number of a definition's version, and how many users have to be evaluated for it. */
type VersionInput = { versionId: number; people: number };

/**
 * Creates an audience. Its members are found in the background, and until that ends it has those found so far. Requires the project lock.
 */
export async function createAudience(
  deps: { tx: Tx; clock: Clock },
  input: { projectId: number; name: string; definition: unknown } & VersionInput,
): Promise<Audience> {
  const { projectId, definition, versionId, people } = input;
  const name = readName(input.name);
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
  await insertAudienceVersion(deps.tx, {
    projectId,
    versionId,
    audienceId: id,
    definition,
    people,
    createdAt,
  });
  return { id, name, createdAt, updatedAt: createdAt };
}

function checkUnused(name: string, others: { name: string }[]): void {
  if (others.some((other) => other.name === name))
    throw invalid(`name is taken: another audience is called ${JSON.stringify(name)}`, 'name');
}

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
  input: AudienceEdit & VersionInput,
): Promise<Audience & { isRebuilt: boolean }> {
  const { projectId, definition } = input;
  const { id } = await findAudience(deps.tx, input);
  const audiences = await listCurrent(deps.tx, projectId);
  const audience = pick(audiences, id);
  if (input.seenAt && input.seenAt.getTime() !== audience.updatedAt.getTime()) throw editConflict(audience);
  const name = input.name === undefined ? audience.name : readName(input.name);
  const others = audiences.filter((other) => other.id !== id);
  checkUnused(name, others);
  const updatedAt = new Date(deps.clock.now());
  await updateAudience(deps.tx, { project_id: projectId, id, name, updated_at: updatedAt });
  if (definition !== undefined) checkReferences(audiences, id, readDefinition(definition));
  const isRebuilt =
    definition !== undefined && !isDeepStrictEqual(definition, newestVersion(audience).definition);
  if (isRebuilt) await startBuild(deps, { ...input, audienceId: id, definition });
  return { id, name, createdAt: audience.createdAt, updatedAt, isRebuilt };
}

function editConflict({ name, updatedAt }: CurrentAudience): Fault {
  const message = `The audience ${JSON.stringify(name)} changed at ${updatedAt.toISOString()}, after you loaded it. Reload it and try again`;
  return new Fault('conflict', { details: [{ message }] });
}

/** Evaluates all users again because an audience that the definition refers to changed. Requires the project lock. */
export async function rebuildAudience(
  deps: Deps,
  input: { projectId: number; audienceId: string } & VersionInput,
): Promise<void> {
  const audience = pick(await listCurrent(deps.tx, input.projectId), input.audienceId);
  await startBuild(deps, { ...input, definition: newestVersion(audience).definition });
}

function pick(audiences: CurrentAudience[], id: string): CurrentAudience {
  const audience = audiences.find((candidate) => candidate.id === id);
  if (audience) return audience;
  throw new Error(`audience ${id} has no current version`);
}

/** Replaces a definition that is still being built, because it is not served yet. */
async function startBuild(
  { tx, clock }: Deps,
  input: { projectId: number; audienceId: string; definition: unknown } & VersionInput,
): Promise<void> {
  const { projectId, audienceId, definition, versionId, people } = input;
  await retireAudienceVersions(tx, { projectId, audienceId, states: ['building'] });
  const createdAt = new Date(clock.now());
  await insertAudienceVersion(tx, { projectId, versionId, audienceId, definition, people, createdAt });
}

/** Deletes an audience. Its members and timers are removed in the background. Requires the project lock. */
export async function deleteAudience(
  tx: Tx,
  input: { projectId: number; reference: string },
): Promise<Audience> {
  const audience = await findAudience(tx, input);
  const { projectId } = input;
  const referrers = await listReferrers(tx, projectId, audience.id);
  if (referrers.length > 0) {
    const names = referrers.map(({ name }) => JSON.stringify(name)).join(', ');
    const message = `${JSON.stringify(audience.name)} cannot be deleted: ${names} ${referrers.length === 1 ? 'refers' : 'refer'} to it`;
    throw invalid(message, 'audience');
  }
  await retireAudienceVersions(tx, { projectId, audienceId: audience.id, states: ['building', 'served'] });
  await deleteAudienceRows(tx, projectId, audience.id);
  return audience;
}
