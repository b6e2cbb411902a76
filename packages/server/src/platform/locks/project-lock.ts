import { type Database, databaseAhead } from '../db/database.ts';
import type { Tx } from '../db/statements.ts';
import { Fault } from '../fault.ts';
import { idMaker, type NewId } from '../ids.ts';
import { findProjectLock, lockFreeProjectLocks, lockProject, type ProjectLockRow } from './store.ts';

/**
 * The project lock: the right to process a project. Every transaction that changes what processing works on (users, members, definitions)
 * holds it to its end. So each project has one such change at a time, in any process.
 *
 * `model` counts changes of definitions: a cache of model 7 is valid until the model is 8. `aheadMs`: how far the project's clock is ahead
 * of real time, which is 0 except in a sandbox.
 */
export type ProjectLock = { projectId: number; model: number; aheadMs: number };

/** Takes the project locks that are free, without waiting. */
export async function takeFreeProjectLocks(tx: Tx, projectIds: number[]): Promise<ProjectLock[]> {
  return (await lockFreeProjectLocks(tx, projectIds)).map(projectLockOf);
}

/** Waits for the project lock. A batch takes a few hundred milliseconds at most. */
export async function takeProjectLock(tx: Tx, projectId: number): Promise<ProjectLock> {
  const row = await lockProject(tx, projectId);
  if (row) return projectLockOf(row);
  throw new Fault('not_found', { details: [{ message: `No project has the ID ${projectId}` }] });
}

/** Reads the current state without the lock. Definitions and the clock may change a moment later. */
export async function readProjectLock(tx: Tx, projectId: number): Promise<ProjectLock> {
  const row = await findProjectLock(tx, projectId);
  return projectLockOf(row ?? { project_id: projectId, model: 0, ahead_ms: 0 });
}

function projectLockOf(row: ProjectLockRow): ProjectLock {
  return { projectId: row.project_id, model: row.model, aheadMs: row.ahead_ms };
}

type ClockDeps = { db: Database; newId?: NewId };

/**
 * Returns the dependencies with the clock of a project that is `aheadMs` ahead: decisions, dates and ids then use that time. For live
 * projects they are unchanged.
 */
export function withClockAhead<D extends ClockDeps>(deps: D, aheadMs: number): D {
  if (aheadMs === deps.db.aheadMs) return deps;
  const db = databaseAhead(deps.db, aheadMs);
  return deps.newId ? { ...deps, db, newId: idMaker(db.clock) } : { ...deps, db };
}

/** For callers without the project lock: the project's clock may be further ahead a moment later. */
export async function withProjectClock<D extends ClockDeps>(deps: D, projectId: number): Promise<D> {
  return withClockAhead(deps, (await readProjectLock(deps.db, projectId)).aheadMs);
}
