import type { Tx } from '../../io/db/index.ts';

/**
 * Which project a letter is of, by its id alone, as a Message-ID of ours says it: one look into an index for each project.
 * Ids are never the same in two.
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

/** Whether any letter of this project was ever on its way. */
export async function hasMessages(tx: Tx, projectId: number): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 FROM beckon.message WHERE project_id = $1 LIMIT 1`, [projectId]);
  return rows.length > 0;
}
