import { oldestWaiting } from '../ingest/index.ts';
import { clearWritten, forgetErasures } from '../users/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { JobRun } from '../../platform/jobs/scheduler.ts';
import { takeFreeProjectLocks } from '../../platform/locks/project-lock.ts';

/** Deletes erasures and write sequences as soon as no record waits that they were created for. */
export async function pruneMarks(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
  { stopping }: JobRun,
): Promise<void> {
  for (const projectId of await listMarked(db)) {
    while (!stopping.aborted && (await pruneProject(db, projectId)));
  }
}

/** Lists projects with marks that are needed only while older records wait. */
async function listMarked(db: Tx): Promise<number[]> {
  const [erased, written] = [await listErased(db), await listWritten(db)];
  return [...new Set([...erased, ...written])].toSorted((a, b) => a - b);
}

/** A step takes a few tens of milliseconds, during which the project is not processed. */
const STEP = 1_000;

/**
 * Deletes marks that are no longer needed, in one step for one project. These are erasures older than all waiting records, and the marks of
 * the last write to a trait. It holds the project lock, so that no record leaves the ingest queue while the waiting ones are checked. Records
 * accepted in that time are newer than all processed ones. Returns true if there may be more. If another worker holds the lock, it does not
 * wait.
 *
 * While bulk records wait, the marks of live records are newer than they are, so almost no mark can be deleted. The second kind is
 * therefore kept until then. Waiting live records do not block the step; otherwise a project that is never idle would keep its marks.
 */
function pruneProject(db: Pick<Database, 'transaction'>, projectId: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await takeFreeProjectLocks(tx, [projectId])).length === 0) return false;
    await forgetErasures(tx, projectId);
    if ((await oldestWaiting(tx, [projectId], 'bulk')).size > 0) return false;
    const live = await oldestWaiting(tx, [projectId], 'live');
    const before = live.get(projectId) ?? Number.MAX_SAFE_INTEGER;
    return (await forgetWritten(tx, { projectId, before, limit: STEP })) === STEP;
  });
}

/** Lists projects with stored write sequences, which exist because older records were waiting. */
async function listWritten(tx: Tx): Promise<number[]> {
  return (await listWrittenProjects(tx)).map((row) => row.project_id);
}

/** Deletes write sequences of at most `limit` users. No record accepted before `before` may be waiting. Requires the project lock. */
function forgetWritten(tx: Tx, input: { projectId: number; before: number; limit: number }): Promise<number> {
  return clearWritten(tx, input);
}

async function listErased(tx: Tx): Promise<number[]> {
  return (await listErasedProjects(tx)).map((row) => row.project_id);
}

/**
 * Lists projects with stored write sequences. Skips from project to project in the index, because a backfill may leave millions of users
 * with them. Reads a table of the users module.
 */
function listWrittenProjects(tx: Tx): Promise<{ project_id: number }[]> {
  // Where tables are distributed, no statement skips from project to project: each node reads its part of the index.
  if (tx.isDistributed)
    return tx.query(`SELECT DISTINCT project_id FROM beckon.person WHERE written_seq IS NOT NULL`);
  return tx.query(
    `WITH RECURSIVE place(project_id) AS (
       (SELECT project_id FROM beckon.person WHERE written_seq IS NOT NULL ORDER BY project_id LIMIT 1)
       UNION ALL
       SELECT (SELECT p.project_id FROM beckon.person p WHERE p.written_seq IS NOT NULL AND p.project_id > place.project_id
               ORDER BY p.project_id LIMIT 1)
       FROM place WHERE place.project_id IS NOT NULL
     )
     SELECT project_id FROM place WHERE project_id IS NOT NULL`,
  );
}

/**
 * Lists projects with erasures that may no longer be needed. There are few, because an erasure is deleted once all records that were
 * waiting at its creation are processed. Reads a table of the users module.
 */
function listErasedProjects(tx: Tx): Promise<{ project_id: number }[]> {
  return tx.query(`SELECT DISTINCT project_id FROM beckon.erasure`);
}
