import type { Tx } from '../../platform/db/statements.ts';

/** A row of `sandbox_advance`: the process that currently moves the clock of a sandbox. There is at most one across all processes. */
type AdvanceRow = { projectId: number; holder: string; now: Date; until: Date };

/** Returns false if another process holds it and has renewed it recently enough. */
export async function takeAdvance(tx: Tx, { projectId, holder, now, until }: AdvanceRow): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.sandbox_advance AS a (project_id, holder, lease_until) VALUES ($1, $2, $4)
     ON CONFLICT (project_id) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
     WHERE a.lease_until <= $3 OR a.holder = excluded.holder
     RETURNING 1`,
    [projectId, holder, now, until],
  );
  return rows.length > 0;
}

export async function endAdvance(
  tx: Tx,
  { projectId, holder }: Pick<AdvanceRow, 'projectId' | 'holder'>,
): Promise<void> {
  await tx.query(`DELETE FROM beckon.sandbox_advance WHERE project_id = $1 AND holder = $2`, [
    projectId,
    holder,
  ]);
}

/** Counts of what has happened so far. Reads the tables `draft` and `email` of other modules. */
type SandboxCounts = { drafts: number; emails: number };

export async function countSandbox(tx: Tx, projectId: number): Promise<SandboxCounts> {
  const rows = await tx.query<SandboxCounts>(
    `SELECT (SELECT count(*) FROM beckon.draft WHERE project_id = $1) AS drafts,
            (SELECT count(*) FROM beckon.email WHERE project_id = $1 AND state = 'sent') AS emails`,
    [projectId],
  );
  return rows[0] ?? { drafts: 0, emails: 0 };
}

/** Work that is due now: queued records of either priority, definitions to build, due alarms, and emails in transit. */
export type ToDo = Record<'live' | 'bulk' | 'build' | 'process' | 'send' | 'emails', boolean>;

/** Reads `ingest_queue`, `project_timer`, `email`, `audience_version` and `counted_event` of other modules. */
export async function findToDo(tx: Tx, { projectId, now }: { projectId: number; now: Date }): Promise<ToDo> {
  const rows = await tx.prepared<ToDo>({
    name: 'sandbox.to_do',
    text: `SELECT EXISTS (SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 AND priority = 'live') AS live,
             EXISTS (SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 AND priority = 'bulk') AS bulk,
             EXISTS (SELECT 1 FROM beckon.audience_version WHERE project_id = $1 AND state = 'building')
               OR EXISTS (SELECT 1 FROM beckon.counted_event WHERE project_id = $1 AND NOT is_whole) AS build,
             EXISTS (SELECT 1 FROM beckon.project_timer WHERE project_id = $1 AND work = 'process' AND next_at <= $2) AS process,
             EXISTS (SELECT 1 FROM beckon.project_timer WHERE project_id = $1 AND work = 'send' AND next_at <= $2) AS send,
             EXISTS (SELECT 1 FROM beckon.email WHERE project_id = $1 AND state IN ('claimed', 'submitting')) AS emails`,
    values: [projectId, now],
  });
  if (!rows[0]) throw new Error('a query without a row');
  return rows[0];
}
