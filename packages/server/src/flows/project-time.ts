import { idMaker, type NewId } from '../base/ids.ts';
import { readTurn } from '../features/turns/index.ts';
import { type Database, movedAhead } from '../io/db/index.ts';

type Timed = { db: Database; newId?: NewId };

/**
 * The same, in the time of a project whose clock is so far ahead: what is decided, dated and named by it is decided, dated and named
 * then. Of live projects it is what was given.
 */
export function timed<D extends Timed>(deps: D, aheadMs: number): D {
  if (aheadMs === deps.db.aheadMs) return deps;
  const db = movedAhead(deps.db, aheadMs);
  return deps.newId ? { ...deps, db, newId: idMaker(db.clock) } : { ...deps, db };
}

/** For whoever has not the project's turn: its clock may be further ahead a moment later. */
export async function inTimeOf<D extends Timed>(deps: D, projectId: number): Promise<D> {
  return timed(deps, (await readTurn(deps.db, projectId)).aheadMs);
}
