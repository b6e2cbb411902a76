import type { Tx } from '../../platform/db/statements.ts';

/** A row of `sandbox_advance`: the process that currently moves the clock of a sandbox. There is at most one across all processes. */
export type AdvanceRow = { projectId: number; holder: string; now: Date; until: Date };

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
