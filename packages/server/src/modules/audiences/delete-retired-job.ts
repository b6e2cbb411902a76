import { deleteRetired, listRetired } from './delete-retired.ts';
import type { EditionPlace } from './build-version.ts';
import type { Database } from '../../platform/db/database.ts';
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
