import type { Tx } from '../../../platform/db/statements.ts';

/** A row of `webhook_listener`: the secret with which a member's own computer signs the events it forwards, one per project. */
export type ListenerPlace = { projectId: number; personId: string };
export type ListenerRow = ListenerPlace & { sealed: Buffer };

/** Inserts a secret unless there is one. */
export async function insertListener(tx: Tx, row: ListenerRow & { createdAt: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.webhook_listener (project_id, person_id, sealed, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, person_id) DO NOTHING`,
    [row.projectId, row.personId, row.sealed, row.createdAt],
  );
}

const ROW = `project_id AS "projectId", person_id AS "personId", sealed`;

export async function findListener(tx: Tx, place: ListenerPlace): Promise<ListenerRow | undefined> {
  const rows = await tx.query<ListenerRow>(
    `SELECT ${ROW} FROM beckon.webhook_listener WHERE project_id = $1 AND person_id = $2`,
    [place.projectId, place.personId],
  );
  return rows[0];
}

/** Lists secrets after a position, in the order of the primary key. */
export function listListeners(
  tx: Tx,
  { after, limit }: { after: ListenerPlace; limit: number },
): Promise<ListenerRow[]> {
  return tx.query(
    `SELECT ${ROW} FROM beckon.webhook_listener WHERE (project_id, person_id) > ($1, $2)
     ORDER BY project_id, person_id LIMIT $3`,
    [after.projectId, after.personId, limit],
  );
}

export async function updateSealed(tx: Tx, row: ListenerRow): Promise<void> {
  await tx.query(`UPDATE beckon.webhook_listener SET sealed = $3 WHERE project_id = $1 AND person_id = $2`, [
    row.projectId,
    row.personId,
    row.sealed,
  ]);
}
