import type { AudienceVersionKey } from './build-version.ts';
import { listUnfinished } from './reads.ts';
import { deleteAudienceVersion, deleteRetiredRows } from './store.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { JobRun } from '../../platform/jobs/scheduler.ts';

const VERSIONS_MAX = 100;
const STEP = 1_000;

/** Deletes members and timers of retired versions in short transactions. */
export async function deleteOldVersions(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
  { stopping }: JobRun,
): Promise<void> {
  for (const key of await listRetired(db, VERSIONS_MAX)) {
    let isGone = false;
    while (!isGone && !stopping.aborted)
      isGone = await db.transaction((tx) => deleteRetired(tx, { ...key, limit: STEP }));
  }
}

/** Lists retired versions of all projects. */
export async function listRetired(tx: Tx, limit: number): Promise<AudienceVersionKey[]> {
  return (await listUnfinished(tx, 'retired', { limit, after: null })).map(
    ({ project_id, version_id: versionId }) => ({
      projectId: project_id,
      versionId,
    }),
  );
}

/** Deletes up to `limit` rows of a retired version, which keeps transactions short. Returns true when no row is left. */
export async function deleteRetired(
  tx: Tx,
  { projectId, versionId, limit }: AudienceVersionKey & { limit: number },
): Promise<boolean> {
  const key = { projectId, versionId };
  const members = await deleteRetiredRows(tx, 'audience_member', { ...key, limit });
  if (members >= limit) return false;
  const remaining = limit - members;
  if ((await deleteRetiredRows(tx, 'audience_timer', { ...key, limit: remaining })) >= remaining)
    return false;
  await deleteAudienceVersion(tx, projectId, versionId);
  return true;
}
