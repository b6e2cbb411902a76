import type { Tx } from '../../io/db/index.ts';
import { listUnfinished } from './reads.ts';
import { type Built, findBuilding, retireEditions, updateBuilt, updateServed, upsertDays } from './store.ts';
import { dayOf } from './standings.ts';

export type EditionPlace = { projectId: number; edition: number };

/** What there is to build, project by project and in each the oldest first, behind `after`. */
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

/** Everybody up to `builtTo` is answered now, `built` people in all; false if it is no longer being built. */
export function advanceBuild(tx: Tx, built: Built): Promise<boolean> {
  return updateBuilt(tx, built);
}

export type Served = { audienceId: string; members: number };

/**
 * With the project's turn taken and a new model counted: from now on this edition answers for its audience. Null if it is
 * being built no more.
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
  // Whoever a new definition brings or takes away neither joined nor left.
  await upsertDays(tx, [{ project_id: projectId, audience_id, joined: 0, departed: 0, members }], dayOf(now));
  return { audienceId: audience_id, members };
}
