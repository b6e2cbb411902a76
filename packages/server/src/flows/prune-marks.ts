import { oldestWaiting } from '../features/inbox/index.ts';
import { forgetErasures, forgetWritten, listErased, listWritten } from '../features/people/index.ts';
import { takeFreeTurns } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

/** Projects with marks that are only needed as long as older records wait. */
export async function listMarked(db: Tx): Promise<number[]> {
  const [erased, written] = [await listErased(db), await listWritten(db)];
  return [...new Set([...erased, ...written])].toSorted((a, b) => a - b);
}

/** A few ten milliseconds: for as long the project is not digested. */
const STEP = 1_000;

/**
 * One step for one project: erasures that nothing waiting is older than, and who wrote a trait last. Under the project's
 * turn, so that nothing is taken out of the inbox while it is asked what waits there; what is accepted meanwhile is newer
 * than all that was ever digested. True if there may be more; somebody who has the turn is not waited for.
 *
 * As long as bulk records wait, those of the live priority are newer than they are, and nearly no mark can go: the second half
 * is left alone until then. What waits in the live priority is no obstacle, or a project that never rests would keep them.
 */
export function pruneMarks(db: Pick<Database, 'transaction'>, projectId: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await takeFreeTurns(tx, [projectId])).length === 0) return false;
    await forgetErasures(tx, projectId);
    if ((await oldestWaiting(tx, [projectId], 'bulk')).size > 0) return false;
    const live = await oldestWaiting(tx, [projectId], 'live');
    const before = live.get(projectId) ?? Number.MAX_SAFE_INTEGER;
    return (await forgetWritten(tx, { projectId, before, limit: STEP })) === STEP;
  });
}
