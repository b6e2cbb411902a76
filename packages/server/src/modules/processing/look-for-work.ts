import { type ProjectBacklog, listBacklogs } from '../ingest/index.ts';
import { type ProjectTimer, listDueProjects } from '../../platform/locks/timers.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSession } from '../../platform/db/session-transactions.ts';

export type WorkQuery = { after: number; limit: number; now: Date };
export type PendingWork = { backlogs: ProjectBacklog[]; timers: ProjectTimer[] };

/**
 * Finds the projects with waiting records, and those with due work. The ingest queue may be empty at one moment and have records of a thousand
 * projects at the next. A plan made for an empty queue reads all of it for each project, or sorts what it finds. The settings here force an
 * ordered index scan, whatever the statistics say.
 */
export function lookForWork(db: Pick<Database, 'session'>, query: WorkQuery): Promise<PendingWork> {
  return inSession(db, async (tx) => {
    const [, backlogs, timers] = await Promise.all([
      tx.query('SET LOCAL enable_bitmapscan = off'),
      listBacklogs(tx, { after: query.after, limit: query.limit }),
      findDueProjects(tx, query),
    ]);
    return { backlogs, timers };
  });
}

function findDueProjects(tx: Tx, { now, limit }: WorkQuery): Promise<ProjectTimer[]> {
  return listDueProjects(tx, { work: 'process', now, limit });
}
