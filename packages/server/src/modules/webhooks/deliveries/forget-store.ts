import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/**
 * Erases a user from stored webhook events, cancels their pending deliveries, and prevents sending them again. Returns the number of
 * events.
 */
export async function eraseMessages(
  tx: Tx,
  { projectId, userId, at }: { projectId: number; userId: string; at: number },
): Promise<number> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE beckon.webhook_message SET body = '', external_user_id = NULL, erased_at = $3
     WHERE project_id = $1 AND external_user_id = $2 RETURNING id`,
    [projectId, userId, new Date(at)],
  );
  const ids = plainList(rows.map(({ id }) => id));
  await tx.query(
    `UPDATE beckon.webhook_delivery SET state = 'canceled', next_at = NULL
     WHERE project_id = $1 AND message_id = ANY ($2::uuid[]) AND state = 'pending'`,
    [projectId, ids],
  );
  // Attempts in progress end later, without storing the answer.
  await tx.query(
    `UPDATE beckon.webhook_attempt SET answer = NULL
     WHERE project_id = $1 AND message_id = ANY ($2::uuid[]) AND ended_at IS NOT NULL AND answer IS NOT NULL`,
    [projectId, ids],
  );
  return rows.length;
}

/** Deletes older webhook events with their deliveries and attempts, except those that an endpoint still waits for. Returns their number. */
export async function forgetMessages(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT m.id FROM beckon.webhook_message m WHERE m.project_id = $1 AND m.created_at < $2
         AND NOT EXISTS (
           SELECT 1 FROM beckon.webhook_delivery d
           JOIN beckon.webhook_endpoint e ON e.project_id = d.project_id AND e.id = d.endpoint_id
           WHERE d.project_id = m.project_id AND d.message_id = m.id AND d.next_at IS NOT NULL)
       ORDER BY m.created_at LIMIT $3
     ), attempts AS (
       DELETE FROM beckon.webhook_attempt a USING old WHERE a.project_id = $1 AND a.message_id = old.id
     ), deliveries AS (
       DELETE FROM beckon.webhook_delivery d USING old WHERE d.project_id = $1 AND d.message_id = old.id
     )
     DELETE FROM beckon.webhook_message m USING old WHERE m.project_id = $1 AND m.id = old.id RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}
