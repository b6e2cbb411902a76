import type { Tx } from '../../../platform/db/statements.ts';

/**
 * Returns the project of an email, given only the id in one of our Message-IDs. It reads one index per project. No two projects have the
 * same id.
 */
export async function findProjectOfMessage(tx: Tx, messageId: string): Promise<number | undefined> {
  const [row] = await tx.query<{ project_id: number }>(
    `SELECT m.project_id FROM beckon.project p
     CROSS JOIN LATERAL (SELECT project_id FROM beckon.message WHERE project_id = p.project_id AND id = $1 LIMIT 1) m
     LIMIT 1`,
    [messageId],
  );
  return row?.project_id;
}

/** Returns whether the project ever claimed an email. */
export async function hasMessages(tx: Tx, projectId: number): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 FROM beckon.message WHERE project_id = $1 LIMIT 1`, [projectId]);
  return rows.length > 0;
}
