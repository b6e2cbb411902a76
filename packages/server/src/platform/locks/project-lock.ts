import { type Database, movedAhead } from '../db/database.ts';
import type { Tx } from '../db/statements.ts';
import { Fault } from '../fault.ts';
import { idMaker, type NewId } from '../ids.ts';
import {
  findTurn,
  insertTurn,
  listAhead,
  lockFreeTurns,
  lockTurn,
  replaceModel,
  type TurnRow,
  updateAhead,
  updateModel,
} from './store.ts';

/**
 * The project lock: the right to process a project. Every transaction that changes what processing works on (users, members, definitions)
 * holds it to its end. So each project has one such change at a time, in any process.
 *
 * `model` counts changes of definitions: a cache of model 7 is valid until the model is 8. `aheadMs`: how far the project's clock is ahead
 * of real time, which is 0 except in a sandbox.
 */
export type Turn = { projectId: number; model: number; aheadMs: number };

export function openTurn(tx: Tx, projectId: number): Promise<void> {
  return insertTurn(tx, projectId);
}

/** Takes the project locks that are free, without waiting. */
export async function takeFreeTurns(tx: Tx, projectIds: number[]): Promise<Turn[]> {
  return (await lockFreeTurns(tx, projectIds)).map(toTurn);
}

/** Waits for the project lock. A batch takes a few hundred milliseconds at most. */
export async function takeTurn(tx: Tx, projectId: number): Promise<Turn> {
  const row = await lockTurn(tx, projectId);
  if (row) return toTurn(row);
  throw new Fault('not_found', { details: [{ message: `No project has the ID ${projectId}` }] });
}

/** Reads the current state without the lock. Definitions and the clock may change a moment later. */
export async function readTurn(tx: Tx, projectId: number): Promise<Turn> {
  const row = await findTurn(tx, projectId);
  return toTurn(row ?? { project_id: projectId, model: 0, ahead_ms: 0 });
}

/** Records that definitions changed, and returns the number of the new model. Requires the project lock. */
export function newModel(tx: Tx, projectId: number): Promise<number> {
  return updateModel(tx, projectId);
}

/** Sets the model of a project whose definitions were copied with the numbers of another project. */
export function startModelAt(tx: Tx, start: { projectId: number; model: number }): Promise<void> {
  return replaceModel(tx, start);
}

/** Moves the project's clock and its alarms. Requires the project lock and the send lock. */
export function moveTime(tx: Tx, moved: { projectId: number; aheadMs: number }): Promise<void> {
  return updateAhead(tx, moved);
}

/** Returns the distinct amounts by which clocks are ahead, except 0. */
export function timesAhead(tx: Tx): Promise<number[]> {
  return listAhead(tx);
}

function toTurn(row: TurnRow): Turn {
  return { projectId: row.project_id, model: row.model, aheadMs: row.ahead_ms };
}

type Timed = { db: Database; newId?: NewId };

/**
 * Returns the dependencies with the clock of a project that is `aheadMs` ahead: decisions, dates and ids then use that time. For live
 * projects they are unchanged.
 */
export function timed<D extends Timed>(deps: D, aheadMs: number): D {
  if (aheadMs === deps.db.aheadMs) return deps;
  const db = movedAhead(deps.db, aheadMs);
  return deps.newId ? { ...deps, db, newId: idMaker(db.clock) } : { ...deps, db };
}

/** For callers without the project lock: the project's clock may be further ahead a moment later. */
export async function inTimeOf<D extends Timed>(deps: D, projectId: number): Promise<D> {
  return timed(deps, (await readTurn(deps.db, projectId)).aheadMs);
}
