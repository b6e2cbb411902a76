import type { Tx } from '../../../platform/db/statements.ts';

/** A row of `webhook_listener`: the secret with which a member's own computer signs the events it forwards, one per project. */
export type ListenerKey = { projectId: number; memberId: string };
export type ListenerRow = ListenerKey & { encrypted: Buffer };

/** Inserts a secret unless there is one. */
export async function insertListener(tx: Tx, row: ListenerRow & { createdAt: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.webhook_listener (project_id, member_id, encrypted_secret, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, member_id) DO NOTHING`,
    [row.projectId, row.memberId, row.encrypted, row.createdAt],
  );
}

const ROW = `project_id AS "projectId", member_id AS "memberId", encrypted_secret AS encrypted`;

export async function findListener(tx: Tx, key: ListenerKey): Promise<ListenerRow | undefined> {
  const rows = await tx.query<ListenerRow>(
    `SELECT ${ROW} FROM beckon.webhook_listener WHERE project_id = $1 AND member_id = $2`,
    [key.projectId, key.memberId],
  );
  return rows[0];
}

/** Lists secrets after a position, in the order of the primary key. */
export function listListeners(
  tx: Tx,
  { after, limit }: { after: ListenerKey; limit: number },
): Promise<ListenerRow[]> {
  return tx.query(
    `SELECT ${ROW} FROM beckon.webhook_listener WHERE (project_id, member_id) > ($1, $2)
     ORDER BY project_id, member_id LIMIT $3`,
    [after.projectId, after.memberId, limit],
  );
}

export async function updateListenerSecret(tx: Tx, row: ListenerRow): Promise<void> {
  await tx.query(
    `UPDATE beckon.webhook_listener SET encrypted_secret = $3 WHERE project_id = $1 AND member_id = $2`,
    [row.projectId, row.memberId, row.encrypted],
  );
}
