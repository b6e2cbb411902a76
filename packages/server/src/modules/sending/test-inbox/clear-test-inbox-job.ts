import type { Log, LogFields } from '../../../platform/log.ts';
import { forEachInOrder } from '../../../platform/async/one-by-one.ts';
import { deleteMailBefore, deleteMailBeyond } from './store.ts';
import { TEST_INBOX_KEPT_MAX, TEST_INBOX_KEPT_MS } from './mail.ts';
import { listProjects } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Job } from '../../../platform/jobs/scheduler.ts';

const EVERY_MS = 3_600_000;
/** Takes about ten milliseconds, because a row is a compressed email. */
const STEP = 500;

/** Deletes emails of the test inbox after 30 days, and all but the newest 10,000 of a project. */
export function clearTestInbox(
  { db, log }: { db: Pick<Database, 'query' | 'prepared' | 'clock'>; log: Log },
  kept: { ms: number; most: number } = { ms: TEST_INBOX_KEPT_MS, most: TEST_INBOX_KEPT_MAX },
): Job {
  async function forget(projectId: number, stopping: () => boolean): Promise<void> {
    const before = db.clock.now() - kept.ms;
    const steps = [
      () => deleteMailBefore(db, { projectId, before, limit: STEP }),
      () => deleteMailBeyond(db, { projectId, keep: kept.most, limit: STEP }),
    ];
    for (const step of steps) {
      let forgotten = STEP;
      while (forgotten === STEP && !stopping()) forgotten = await step();
    }
  }
  return {
    name: 'clear_test_inbox',
    everyMs: EVERY_MS,
    async run(stopping) {
      const projects = (await listProjects(db)).map(({ id: projectId }) => ({ projectId }));
      const fieldsOf = ({ projectId }: { projectId: number }): LogFields => ({ project_id: projectId });
      const options = { log, job: 'clear_test_inbox', stopping, fieldsOf };
      await forEachInOrder(projects, options, ({ projectId }) => forget(projectId, stopping));
    },
  };
}
