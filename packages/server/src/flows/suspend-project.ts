import { lockLane } from '../features/inbox/index.ts';
import {
  findPair,
  type Project,
  resumeProject as resume,
  suspendProject as suspend,
} from '../features/projects/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

type Deps = Pick<Database, 'transaction' | 'clock'>;

/**
 * As a revocation of all keys at once, but one that can be taken back: it waits for the flush that holds the lane. Its sandbox is
 * suspended and resumed with it.
 */
export function suspendProject(db: Deps, projectId: number): Promise<Project> {
  return db.transaction(async (tx) => {
    await lockLanes(tx, projectId);
    return suspend({ tx, clock: db.clock }, projectId);
  });
}

export function resumeProject(db: Deps, projectId: number): Promise<Project> {
  return db.transaction(async (tx) => {
    await lockLanes(tx, projectId);
    return resume({ tx }, projectId);
  });
}

/** A sandbox was made behind its project, so these are in order. */
async function lockLanes(tx: Tx, projectId: number): Promise<void> {
  await lockLane(tx, projectId);
  const { sandboxId } = await findPair(tx, projectId);
  if (sandboxId !== null) await lockLane(tx, sandboxId);
}
