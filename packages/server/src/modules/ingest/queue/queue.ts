import type { ProjectQueue } from '@beckon/contract/dashboard';
import { findWaiting, lockQueueRow, type QueueRow, type WaitingRow } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

/**
 * Locks the queue row. Until the transaction ends, no process accepts records for this project, because each flush takes this lock first. A
 * change that must come before or after a flush as a whole, such as a revocation or suspension, needs this lock.
 */
export async function lockQueue(tx: Tx, projectId: number): Promise<QueueRow> {
  const queue = await lockQueueRow(tx, projectId);
  if (queue) return queue;
  throw new Fault('not_found', { details: [{ message: `No project has the ID ${projectId}` }] });
}

type QueueCounts = Omit<ProjectQueue, 'project'>;

export async function countWaiting(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<QueueCounts> {
  const row = await findWaiting(db, projectId);
  return row ? queueCounts(db, row) : { live: 0, bulk: 0, dead_letters: 0, oldest_ms: 0 };
}

/** More than anyone reads. In the projects left out, records wait for less time. */
const PROJECTS_LISTED_MAX = 1_000;

/** Lists every project with waiting or dead-lettered records, those with the longest wait first. */
export async function listWaiting(
  db: Pick<Database, 'query' | 'clock'>,
  projectIds: number[] | null,
): Promise<ProjectQueue[]> {
  const rows = await listWaitingRows(db, projectIds, PROJECTS_LISTED_MAX);
  return rows.map(({ project_id: id, name, ...row }) => ({
    project: { id, name },
    ...queueCounts(db, row),
  }));
}

function queueCounts({ clock }: Pick<Database, 'clock'>, row: WaitingRow): QueueCounts {
  const oldestMs = row.oldest_at ? Math.max(0, clock.now() - row.oldest_at.getTime()) : 0;
  return { live: row.live, bulk: row.bulk, dead_letters: row.dead, oldest_ms: oldestMs };
}

type ProjectWaitingRow = WaitingRow & { project_id: number; name: string };

/** Reads the names from the table of the `projects` module. */
function listWaitingRows(
  tx: Pick<Database, 'query'>,
  projectIds: number[] | null,
  limit: number,
): Promise<ProjectWaitingRow[]> {
  return tx.query(
    `SELECT p.project_id, p.name, coalesce(waiting.live, 0) AS live, coalesce(waiting.bulk, 0) AS bulk, waiting.oldest_at,
       coalesce(buried.dead, 0) AS dead
     FROM beckon.project p
     LEFT JOIN (
       SELECT project_id, coalesce(sum(records) FILTER (WHERE priority = 'live'), 0)::bigint AS live,
              coalesce(sum(records) FILTER (WHERE priority = 'bulk'), 0)::bigint AS bulk, min(accepted_at) AS oldest_at
       FROM beckon.ingest_queue GROUP BY project_id) waiting ON waiting.project_id = p.project_id
     LEFT JOIN (
       SELECT project_id, count(*) AS dead FROM beckon.dead_letter GROUP BY project_id) buried ON buried.project_id = p.project_id
     WHERE (waiting.project_id IS NOT NULL OR buried.project_id IS NOT NULL) AND ($2::bigint[] IS NULL OR p.project_id = ANY ($2))
     ORDER BY waiting.oldest_at, p.project_id LIMIT $1`,
    [limit, projectIds],
  );
}
