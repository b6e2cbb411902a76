import type { Tx } from '../../platform/db/statements.ts';
import { listUnfinished } from './reads.ts';
import { type Built, findBuilding, retireEditions, updateBuilt, updateServed, upsertDays } from './store.ts';
import { dayOf } from './memberships.ts';

export type EditionPlace = { projectId: number; edition: number };

/** Lists the editions being built, ordered by project and then oldest first, starting after `after`. */
export async function listBuilding(
  tx: Tx,
  limit: number,
  after: EditionPlace | null = null,
): Promise<EditionPlace[]> {
  return (await listUnfinished(tx, 'building', { limit, after })).map(({ project_id, edition }) => ({
    projectId: project_id,
    edition,
  }));
}

/** Records that all users up to `builtTo` are evaluated, `built` in total. Returns false if the edition is no longer being built. */
export function advanceBuild(tx: Tx, built: Built): Promise<boolean> {
  return updateBuilt(tx, built);
}

export type Served = { audienceId: string; members: number };

/**
 * Serves this edition for its audience from now on, or returns null if it is no longer being built. Requires the project lock and a new
 * model number.
 */
export async function serveEdition(
  tx: Tx,
  { projectId, edition, now }: EditionPlace & { now: Date },
): Promise<Served | null> {
  const found = await findBuilding(tx, projectId, edition);
  if (!found) return null;
  const { audience_id, members } = found;
  await retireEditions(tx, { projectId, audienceId: audience_id, states: ['served'] });
  await updateServed(tx, { projectId, edition, at: now });
  // Users that a new definition adds or removes count as neither joined nor left.
  await upsertDays(tx, [{ project_id: projectId, audience_id, joined: 0, departed: 0, members }], dayOf(now));
  return { audienceId: audience_id, members };
}
