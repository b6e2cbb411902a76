import { Fault } from '../../base/fault.ts';
import type { Tx } from '../../io/db/index.ts';
import { findModel, insertTurn, lockFreeTurns, lockTurn, type TurnRow, updateModel } from './store.ts';

/**
 * Whose lock is the right to digest a project. Whoever changes what the digest works on (people, members, definitions)
 * holds it until the end of the transaction, so that for each project there is one such change at a time, in any process.
 *
 * `model` counts the changes of definitions: who has read those of model 7 need not read them again until it is 8.
 */
export type Turn = { projectId: number; model: number };

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
  throw new Fault('not_found', { details: [{ message: `There is no project with the id ${projectId}` }] });
}

/** Under which number a project's definitions are known now; whoever has not the turn may be told an old one. */
export async function readTurn(tx: Tx, projectId: number): Promise<Turn> {
  return { projectId, model: await findModel(tx, projectId) };
}

/** With the turn taken: says that definitions changed, and gives the number under which the new ones are known. */
export function newModel(tx: Tx, projectId: number): Promise<number> {
  return updateModel(tx, projectId);
}

function toTurn(row: TurnRow): Turn {
  return { projectId: row.project_id, model: row.model };
}
