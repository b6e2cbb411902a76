import { type ProjectBacklog, placesWaiting } from '../ingest/index.ts';
import { type DuePlace, duePlaces } from '../../platform/locks/timers.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSession } from '../../platform/db/session-transactions.ts';

export type Look = { after: number; limit: number; now: Date };
export type PendingWork = { places: ProjectBacklog[]; dues: DuePlace[] };

/**
 * Finds the projects with waiting records, and those with due work. The inbox may be empty at one moment and have records of a thousand
 * projects at the next. A plan made for an empty inbox reads all of it for each project, or sorts what it finds. The settings here force an
 * ordered index scan, whatever the statistics say.
 */
export function lookForWork(db: Pick<Database, 'session'>, look: Look): Promise<PendingWork> {
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
