import { forgetDecisions as forgetOf } from '../features/decisions/index.ts';
import { listProjects } from '../features/projects/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Duty } from './timetable.ts';

const EVERY_MS = 3_600_000;
const KEPT_MS = 90 * 86_400_000;
/** Some ten milliseconds; nobody waits behind it for long. */
const STEP = 1_000;

/** Decisions are kept for 90 days after their last change, and those whose draft is there for as long as that is. */
export function forgetDecisions(db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>): Duty {
  async function forget(projectId: number, stopping: () => boolean): Promise<void> {
    const before = new Date(db.clock.now() - KEPT_MS);
    let forgotten = STEP;
    while (forgotten === STEP && !stopping()) {
      forgotten = await db.transaction((tx) => forgetOf(tx, { projectId, before, limit: STEP }));
    }
  }
  return {
    name: 'forget_decisions',
    everyMs: EVERY_MS,
    async run(stopping) {
      for (const { id } of await listProjects(db)) {
        if (stopping()) return;
        await forget(id, stopping);
      }
    },
  };
}
