import { dropEmptyPartitions } from '../../users/index.ts';
import { listProjects } from '../../workspace/index.ts';
import { forgetHistory as forgetOf } from './forget-history.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Job } from '../../../platform/jobs/scheduler.ts';

const EVERY_MS = 60_000;
const ROUND_MAX_MS = 5_000;
const REST_MS = 3_600_000;

/**
 * Deletes data past its retention, project by project. A round ends after some seconds, and the next one continues after the last project.
 * A project with more rows than one round can delete goes to the back of the list, so that each gets its turn. When all are done, it drops
 * old empty partitions and rests for an hour.
 */
export function forgetHistory(db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>): Job {
  let left: number[] = [];
  let restUntil = 0;
  return {
    name: 'delete_history',
    everyMs: EVERY_MS,
    async run(stopping) {
      if (db.clock.now() < restUntil) return;
      if (left.length === 0) left = (await listProjects(db)).map(({ id }) => id);
      const endsAt = performance.now() + ROUND_MAX_MS;
      const mayGoOn = (): boolean => !stopping() && performance.now() < endsAt;
      while (mayGoOn() && left.length > 0) {
        const [projectId = 0, ...others] = left;
        left = [...others, projectId];
        if (await forgetOf(db, projectId, mayGoOn)) left = others;
      }
      if (left.length > 0) return;
      restUntil = db.clock.now() + REST_MS;
      await dropEmptyPartitions(db, db.clock.now());
    },
  };
}
