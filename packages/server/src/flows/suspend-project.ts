import { lockLane } from '../features/inbox/index.ts';
import {
  type Project,
  resumeProject as resume,
  suspendProject as suspend,
} from '../features/projects/index.ts';
import type { Database } from '../io/db/index.ts';

type Deps = Pick<Database, 'transaction' | 'clock'>;

/** As a revocation of all keys at once, but one that can be taken back: it waits for the flush that holds the lane. */
export function suspendProject(db: Deps, projectId: number): Promise<Project> {
  return db.transaction(async (tx) => {
    await lockLane(tx, projectId);
    return suspend({ tx, clock: db.clock }, projectId);
  });
}

export function resumeProject(db: Deps, projectId: number): Promise<Project> {
  return db.transaction(async (tx) => {
    await lockLane(tx, projectId);
    return resume({ tx }, projectId);
  });
}
