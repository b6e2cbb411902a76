import { type ProjectTimer, listDueProjects } from '../../platform/locks/timers.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSession } from '../../platform/db/session-transactions.ts';
import type { BacklogRow } from '../ingest/index.ts';

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

/** A project with waiting records: how many the first chunk of each priority holds, or 0. */
export type ProjectBacklog = { projectId: number; live: number; bulk: number };

/** Lists projects by id after `after` and then from the start, so that each gets its turn. */
async function listBacklogs(
  tx: Tx,
  { after, limit }: { after: number; limit: number },
): Promise<ProjectBacklog[]> {
  const behind = await listBacklogRows(tx, after, limit);
  const round = after > 0 && behind.length < limit ? await listBacklogRows(tx, 0, limit - behind.length) : [];
  const rows = [...behind, ...round.filter((row) => row.project_id <= after)];
  return rows.map((row) => ({
    projectId: row.project_id,
    live: row.live ?? 0,
    bulk: row.bulk ?? 0,
  }));
}

/**
 * Lists projects after `after` with waiting records, and how many records the first chunk of each priority holds. It skips from project to
 * project in the primary key, so the cost depends on the number of projects and not of records. Reads a table of the ingest module.
 */
function listBacklogRows(tx: Tx, after: number, limit: number): Promise<BacklogRow[]> {
  if (tx.isDistributed) return countBacklogRows(tx, after, limit);
  return tx.prepared({
    name: 'processing.waiting',
    text: `WITH RECURSIVE project(project_id) AS (
             (SELECT project_id FROM beckon.ingest_queue WHERE project_id > $1 ORDER BY project_id LIMIT 1)
             UNION ALL
             SELECT (SELECT i.project_id FROM beckon.ingest_queue i WHERE i.project_id > project.project_id ORDER BY i.project_id LIMIT 1)
             FROM project WHERE project.project_id IS NOT NULL
           )
           SELECT project_id,
             (SELECT i.records - i.applied FROM beckon.ingest_queue i WHERE i.project_id = project.project_id AND i.priority = 'live' ORDER BY i.seq LIMIT 1) AS live,
             (SELECT i.records - i.applied FROM beckon.ingest_queue i WHERE i.project_id = project.project_id AND i.priority = 'bulk' ORDER BY i.seq LIMIT 1) AS bulk
           FROM project WHERE project_id IS NOT NULL LIMIT $2`,
    values: [after, limit],
  });
}

/** Does the same where tables are distributed: the nodes count the waiting records of their projects at the same time. */
function countBacklogRows(tx: Tx, after: number, limit: number): Promise<BacklogRow[]> {
  return tx.prepared({
    name: 'processing.waiting_on_nodes',
    text: `SELECT project_id, sum(records - applied) FILTER (WHERE priority = 'live')::bigint AS live,
             sum(records - applied) FILTER (WHERE priority = 'bulk')::bigint AS bulk
           FROM beckon.ingest_queue WHERE project_id > $1 GROUP BY project_id ORDER BY project_id LIMIT $2`,
    values: [after, limit],
  });
}
