import type { Tx } from '../../platform/db/statements.ts';
import { listUnfinished } from './reads.ts';
import { findBuilding, retireAudienceVersions, updateServed, upsertDays } from './store.ts';
import { dayOf } from './memberships.ts';

export type AudienceVersionKey = { projectId: number; versionId: number };

/** Lists the versions being built, ordered by project and then oldest first, starting after `after`. */
export async function listBuilding(
  tx: Tx,
  limit: number,
  after: AudienceVersionKey | null = null,
): Promise<AudienceVersionKey[]> {
  return (await listUnfinished(tx, 'building', { limit, after })).map(
    ({ project_id, version_id: versionId }) => ({
      projectId: project_id,
      versionId,
    }),
  );
}

export type ServedAudience = { audienceId: string; members: number };

/**
 * Serves this version for its audience from now on, or returns null if it is no longer being built. Requires the project lock and a new
 * model number.
 */
export async function serveAudienceVersion(
  tx: Tx,
  { projectId, versionId, now }: AudienceVersionKey & { now: Date },
): Promise<ServedAudience | null> {
  const found = await findBuilding(tx, projectId, versionId);
  if (!found) return null;
  const { audience_id, members } = found;
  await retireAudienceVersions(tx, { projectId, audienceId: audience_id, states: ['served'] });
  await updateServed(tx, { projectId, versionId });
  // Users that a new definition adds or removes count as neither joined nor left.
  await upsertDays(
    tx,
    [{ project_id: projectId, audience_id, joined: 0, left_count: 0, members }],
    dayOf(now),
  );
  return { audienceId: audience_id, members };
}
