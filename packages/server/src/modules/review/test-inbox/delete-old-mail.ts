import type { Log, LogFields } from '../../../platform/log.ts';
import { forEachInOrder } from '../../../platform/async/one-by-one.ts';
import { deleteMailBefore, deleteMailBeyond } from './store.ts';
import { TEST_INBOX_KEPT_MAX, TEST_INBOX_KEPT_MS } from './mail.ts';
import { listProjects } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';

/** Takes about ten milliseconds, because a row is a compressed email. */
const STEP = 500;

type DeleteOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'clock'>;
  log: Log;
  kept?: { ms: number; most: number };
};
const KEPT = { ms: TEST_INBOX_KEPT_MS, most: TEST_INBOX_KEPT_MAX };

/** Deletes emails of the test inbox after 30 days, and all but the newest 10,000 of a project. */
export async function deleteOldMail({ db, log, kept = KEPT }: DeleteOptions, run: JobRun): Promise<void> {
  const projects = (await listProjects(db)).map(({ id: projectId }) => ({ projectId }));
  const fieldsOf = ({ projectId }: { projectId: number }): LogFields => ({ project_id: projectId });
  await forEachInOrder(projects, { log, run, fieldsOf }, async ({ projectId }) => {
    const before = db.clock.now() - kept.ms;
    const steps = [
      () => deleteMailBefore(db, { projectId, before, limit: STEP }),
      () => deleteMailBeyond(db, { projectId, keep: kept.most, limit: STEP }),
    ];
    for (const step of steps) {
      let deleted = STEP;
      while (deleted === STEP && !run.stopping.aborted) deleted = await step();
    }
  });
}
