import type { Tx } from '../../io/db/index.ts';

/** When a delivery of the project is due next, or counts as lost. Milliseconds. */
export async function nextDeliveryAt(tx: Tx, projectId: number): Promise<number | null> {
  const rows = await tx.query<{ at: Date | null }>(
    `SELECT min(next_at) AS at FROM beckon.webhook_delivery WHERE project_id = $1 AND next_at IS NOT NULL`,
    [projectId],
  );
  return rows[0]?.at?.getTime() ?? null;
}
