import { type Place, placesWaiting } from '../features/inbox/index.ts';
import { type DuePlace, duePlaces } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { inSession } from './session.ts';

export type Look = { after: number; limit: number; now: Date };
export type Work = { places: Place[]; dues: DuePlace[] };

/**
 * In which projects something waits, and in which something is due. The inbox is empty at one moment and holds a thousand
 * projects at the next. A plan that was made for it empty reads it whole for each project, or sorts what it found of it, so
 * here it is read by its index, in order, whatever the statistics say.
 */
export function lookForWork(db: Pick<Database, 'session'>, look: Look): Promise<Work> {
  return inSession(db, async (tx) => {
    const [, places, dues] = await Promise.all([
      tx.query('SET LOCAL enable_bitmapscan = off'),
      placesWaiting(tx, { after: look.after, limit: look.limit }),
      dueNow(tx, look),
    ]);
    return { places, dues };
  });
}

function dueNow(tx: Tx, { now, limit }: Look): Promise<DuePlace[]> {
  return duePlaces(tx, { work: 'process', now, limit });
}
