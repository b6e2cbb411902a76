import type { Tx } from '../../platform/db/statements.ts';

/** Writes `expected_event`. Marking an event again makes its current form the expected one. */
export async function upsertExpected(
  tx: Tx,
  { projectId, name, at, by }: { projectId: number; name: string; at: number; by: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.expected_event (project_id, name, since, marked_by) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, name) DO UPDATE SET since = excluded.since, marked_by = excluded.marked_by`,
    [projectId, name, new Date(at), by],
  );
}

export async function deleteExpected(tx: Tx, projectId: number, name: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.expected_event WHERE project_id = $1 AND name = $2`, [projectId, name]);
}
