import { lockQueue } from '../features/inbox/index.ts';
import {
  findPair,
  type Project,
  resumeProject as resume,
  suspendProject as suspend,
} from '../features/projects/index.ts';
import { takeSendTurn } from '../features/sending/index.ts';
import { dueEarlier } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { nextMoment } from './next-due.ts';

type Deps = Pick<Database, 'transaction' | 'clock'>;

/**
 * As a revocation of all keys at once, but one that can be taken back: it waits for the flush that holds the queue row. Its sandbox is
 * suspended and resumed with it.
 */
export function suspendProject(db: Deps, projectId: number): Promise<Project> {
  return db.transaction(async (tx) => {
    await lockQueues(tx, projectId);
    return suspend({ tx, clock: db.clock }, projectId);
  });
}

export function resumeProject(db: Deps, projectId: number): Promise<Project> {
  return db.transaction(async (tx) => {
    await wakeSender(tx, projectId);
    await lockQueues(tx, projectId);
    return resume({ tx }, projectId);
  });
}

/** What fell due meanwhile. Whoever is looking just now is waited for, or would find it suspended and go to sleep again. */
async function wakeSender(tx: Tx, projectId: number): Promise<void> {
  const ids = await pairOf(tx, projectId);
  for (const id of ids) await takeSendTurn(tx, id);
  for (const id of ids) {
    const nextAt = await nextMoment(tx, id, 'send');
    if (nextAt) await dueEarlier(tx, 'send', [{ projectId: id, nextAt }]);
  }
}

async function lockQueues(tx: Tx, projectId: number): Promise<void> {
  for (const id of await pairOf(tx, projectId)) await lockQueue(tx, id);
}

/** A sandbox was made behind its project, so these are in order. */
async function pairOf(tx: Tx, projectId: number): Promise<number[]> {
  const { sandboxId } = await findPair(tx, projectId);
  return sandboxId === null ? [projectId] : [projectId, sandboxId];
}
