import { idMaker, type NewId } from '../ids.ts';
import { readTurn } from './project-lock.ts';
import { type Database, movedAhead } from '../db/database.ts';

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
