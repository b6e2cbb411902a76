import type { Tx } from '../../platform/db/statements.ts';

/** Returns whether the project ever claimed an email. Reads a table of the sending module. */
export async function hasEmails(tx: Tx, projectId: number): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 FROM beckon.email WHERE project_id = $1 LIMIT 1`, [projectId]);
  return rows.length > 0;
}

/** Finds the last stored event of the project, of any user. Reads a table of the users module. */
export async function findLastReceived(
  tx: Tx,
  projectId: number,
): Promise<{ name: string; receivedAt: number } | null> {
  const rows = await tx.query<{ name: string; received_at: Date }>(
    `SELECT name, received_at FROM beckon.event WHERE project_id = $1 ORDER BY received_at DESC LIMIT 1`,
    [projectId],
  );
  return rows[0] ? { name: rows[0].name, receivedAt: rows[0].received_at.getTime() } : null;
}

/** Counts dead-lettered records, up to `max`. Reads a table of the ingest module. */
export async function countDead(tx: Tx, projectId: number, max: number): Promise<number> {
  const rows = await tx.query<{ dead: number }>(
    `SELECT count(*) AS dead FROM (SELECT FROM beckon.dead_letter WHERE project_id = $1 LIMIT $2) d`,
    [projectId, max],
  );
  return rows[0]?.dead ?? 0;
}
