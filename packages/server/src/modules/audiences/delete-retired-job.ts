import type { EditionPlace } from './build-version.ts';
import { listUnfinished } from './reads.ts';
import { deleteEdition, deleteSomeOfRetired } from './store.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';

const EVERY_MS = 10_000;
const EDITIONS_MAX = 100;
const STEP = 1_000;

/** Deletes members and timers of retired editions in short transactions. */
export function forgetEditions(db: Pick<Database, 'query' | 'prepared' | 'transaction'>): Job {
  async function forget(place: EditionPlace, stopping: () => boolean): Promise<void> {
    let isGone = false;
    while (!isGone && !stopping()) {
      isGone = await db.transaction((tx) => deleteRetired(tx, { ...place, limit: STEP }));
    }
  }
  return {
    name: 'delete_audience_definitions',
    everyMs: EVERY_MS,
    async run(stopping) {
      for (const place of await listRetired(db, EDITIONS_MAX)) {
        if (stopping()) return;
        await forget(place, stopping);
      }
    },
  };
}

/** Lists retired editions of all projects. */
export async function listRetired(tx: Tx, limit: number): Promise<EditionPlace[]> {
  return (await listUnfinished(tx, 'retired', { limit, after: null })).map(({ project_id, edition }) => ({
    projectId: project_id,
    edition,
  }));
}

/** Deletes up to `limit` rows of a retired edition, which keeps transactions short. Returns true when no row is left. */
export async function deleteRetired(
  tx: Tx,
  { projectId, edition, limit }: EditionPlace & { limit: number },
): Promise<boolean> {
  const place = { projectId, edition };
  const members = await deleteSomeOfRetired(tx, 'audience_member', { ...place, limit });
  if (members >= limit) return false;
  const left = limit - members;
  if ((await deleteSomeOfRetired(tx, 'audience_due', { ...place, limit: left })) >= left) return false;
  await deleteEdition(tx, projectId, edition);
  return true;
}
