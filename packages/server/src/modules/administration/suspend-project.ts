import { lockQueue } from '../ingest/index.ts';
import { nextMoment } from '../rules/index.ts';
import { takeSendLock } from '../sending/index.ts';
import { findPair, type Project, toProject, unknownProject } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { updateSuspended } from './project-store.ts';

type Deps = Pick<Database, 'transaction' | 'clock'>;

/**
 * Suspends a project. It works like revoking all keys at once, but can be reverted, and it waits for the flush that holds the queue row.
 * The sandbox of the project is suspended and resumed with it.
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

/**
 * Sets the sender's alarm for drafts that became due. It waits for a running sender, which would otherwise find the project suspended and
 * sleep again.
 */
async function wakeSender(tx: Tx, projectId: number): Promise<void> {
  const ids = await pairOf(tx, projectId);
  for (const id of ids) await takeSendLock(tx, id);
  for (const id of ids) {
    const nextAt = await nextMoment(tx, id, 'send');
    if (nextAt) await setTimersEarlier(tx, 'send', [{ projectId: id, nextAt }]);
  }
}

async function lockQueues(tx: Tx, projectId: number): Promise<void> {
  for (const id of await pairOf(tx, projectId)) await lockQueue(tx, id);
}

/** Returns the project and its sandbox. A sandbox is created after its project, so these ids are in order. */
async function pairOf(tx: Tx, projectId: number): Promise<number[]> {
  const { sandboxId } = await findPair(tx, projectId);
  return sandboxId === null ? [projectId] : [projectId, sandboxId];
}

/** The caller must hold the project's queue lock, so that this comes before or after a flush as a whole. */
async function suspend(deps: { tx: Tx; clock: Clock }, projectId: number): Promise<Project> {
  return setSuspended(deps.tx, projectId, new Date(deps.clock.now()));
}

async function resume(deps: { tx: Tx }, projectId: number): Promise<Project> {
  return setSuspended(deps.tx, projectId, null);
}

async function setSuspended(tx: Tx, projectId: number, at: Date | null): Promise<Project> {
  const row = await updateSuspended(tx, { projectId, at });
  if (!row) throw unknownProject(projectId);
  return toProject(row);
}
