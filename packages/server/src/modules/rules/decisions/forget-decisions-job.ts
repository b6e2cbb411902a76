import type { Log, LogFields } from '../../../platform/log.ts';
import { forEachInOrder } from '../../../platform/async/one-by-one.ts';
import { type DecisionCursor, forgetDecisions as forgetOf } from './store.ts';
import { listProjects } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Job } from '../../../platform/jobs/scheduler.ts';

const EVERY_MS = 3_600_000;
const KEPT_MS = 90 * 86_400_000;
/** Takes about ten milliseconds, so no other process waits for it for long. */
const STEP = 1_000;

type ForgetDecisionsOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  log: Log;
};

/** Deletes decisions 90 days after their last change, but keeps those with a draft for as long as the draft exists. */
export function forgetDecisionsJob({ db, log }: ForgetDecisionsOptions): Job {
  async function forget(projectId: number, stopping: () => boolean): Promise<void> {
    const before = new Date(db.clock.now() - KEPT_MS);
    const step = (from: DecisionCursor | null): Promise<DecisionCursor | null> =>
      db.transaction((tx) => forgetOf(tx, { projectId, before, from, limit: STEP }));
    let from: DecisionCursor | null = null;
    while (!stopping()) {
      from = await step(from);
      if (from === null) return;
    }
  }
  return {
    name: 'delete_decisions',
    everyMs: EVERY_MS,
    async run(stopping) {
      const projects = (await listProjects(db)).map(({ id: projectId }) => ({ projectId }));
      const fieldsOf = ({ projectId }: { projectId: number }): LogFields => ({ project_id: projectId });
      const options = { log, job: 'delete_decisions', stopping, fieldsOf };
      await forEachInOrder(projects, options, ({ projectId }) => forget(projectId, stopping));
    },
  };
}
