import type { Log, LogFields } from '../../../platform/log.ts';
import { forEachInOrder } from '../../../platform/async/one-by-one.ts';
import { type DecisionCursor, forgetDecisions } from './store.ts';
import { listProjects } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';

const KEPT_MS = 90 * 86_400_000;
/** Takes about ten milliseconds, so no other process waits for it for long. */
const STEP = 1_000;

type ForgetDecisionsOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  log: Log;
};

/** Deletes decisions 90 days after their last change, but keeps those with a draft for as long as the draft exists. */
export async function deleteOldDecisions({ db, log }: ForgetDecisionsOptions, run: JobRun): Promise<void> {
  const projects = (await listProjects(db)).map(({ id: projectId }) => ({ projectId }));
  const fieldsOf = ({ projectId }: { projectId: number }): LogFields => ({ project_id: projectId });
  await forEachInOrder(projects, { log, run, fieldsOf }, async ({ projectId }) => {
    const before = new Date(db.clock.now() - KEPT_MS);
    const step = (from: DecisionCursor | null): Promise<DecisionCursor | null> =>
      db.transaction((tx) => forgetDecisions(tx, { projectId, before, from, limit: STEP }));
    let from: DecisionCursor | null = null;
    while (!run.stopping.aborted) {
      from = await step(from);
      if (from === null) return;
    }
  });
}
