import { Fault } from '../../base/fault.ts';
import type { Tx } from '../../io/db/index.ts';
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
 * Whose lock is the right to digest a project. Whoever changes what the digest works on (people, members, definitions)
 * holds it until the end of the transaction, so that for each project there is one such change at a time, in any process.
 *
 * `model` counts the changes of definitions: who has read those of model 7 need not read them again until it is 8. `aheadMs`:
 * how far the project's clock is ahead of real time, which is 0 but for a sandbox.
 */
export type Turn = { projectId: number; model: number; aheadMs: number };

export function openTurn(tx: Tx, projectId: number): Promise<void> {
  return insertTurn(tx, projectId);
}

/** The turns among these that are free now; nobody waits. */
export async function takeFreeTurns(tx: Tx, projectIds: number[]): Promise<Turn[]> {
  return (await lockFreeTurns(tx, projectIds)).map(toTurn);
}

/** Waits for the turn: a batch lasts some hundred milliseconds at most. */
export async function takeTurn(tx: Tx, projectId: number): Promise<Turn> {
  const row = await lockTurn(tx, projectId);
  if (row) return toTurn(row);
  throw new Fault('not_found', { details: [{ message: `No project has the ID ${projectId}` }] });
}

/** As it is now, without taking it: definitions may be newer a moment later, and the clock further ahead. */
export async function readTurn(tx: Tx, projectId: number): Promise<Turn> {
  const row = await findTurn(tx, projectId);
  return toTurn(row ?? { project_id: projectId, model: 0, ahead_ms: 0 });
}

/** With the turn taken: says that definitions changed, and gives the number under which the new ones are known. */
export function newModel(tx: Tx, projectId: number): Promise<number> {
  return updateModel(tx, projectId);
}

/** Of a project whose definitions were made under the numbers of another one. */
export function startModelAt(tx: Tx, start: { projectId: number; model: number }): Promise<void> {
  return replaceModel(tx, start);
}

/** With the turn and the send turn taken: the project's clock goes on from there, and what is due rings by it. */
export function moveTime(tx: Tx, moved: { projectId: number; aheadMs: number }): Promise<void> {
  return updateAhead(tx, moved);
}

/** How far clocks are ahead anywhere, each once, other than not at all. */
export function timesAhead(tx: Tx): Promise<number[]> {
  return listAhead(tx);
}

function toTurn(row: TurnRow): Turn {
  return { projectId: row.project_id, model: row.model, aheadMs: row.ahead_ms };
}
