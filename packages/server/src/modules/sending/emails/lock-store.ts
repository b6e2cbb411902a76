/** Rows of `send_lock`. */

import type { Tx } from '../../../platform/db/statements.ts';

/**
 * Creates the send lock of a project, the right to send for it. One worker at a time claims the project's emails in order of their
 * deadlines, so that a single process counts caps and the throttle.
 */
export async function createSendLock(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`INSERT INTO beckon.send_lock (project_id) VALUES ($1)`, [projectId]);
}

export type SendLockRow = { tokens: number | null; refilled_at: Date | null };

type FreeSendLockRow = SendLockRow & { is_suspended: boolean };

/** Returns null if another worker currently sends for this project. Reads the table `project` of another module. */
export async function lockFreeSendLock(tx: Tx, projectId: number): Promise<FreeSendLockRow | null> {
  const rows = await tx.prepared<FreeSendLockRow>({
    name: 'sending.lock',
    text: `SELECT t.tokens, t.refilled_at, p.suspended_at IS NOT NULL AS is_suspended FROM beckon.send_lock t
           JOIN beckon.project p ON p.project_id = t.project_id WHERE t.project_id = $1 FOR UPDATE OF t SKIP LOCKED`,
    values: [projectId],
  });
  return rows[0] ?? null;
}

/**
 * Waits for the send lock. A request that pauses a project continues when no more emails can be claimed. Waits for a running send batch,
 * which takes a few hundred milliseconds at most.
 */
export async function takeSendLock(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`SELECT 1 FROM beckon.send_lock WHERE project_id = $1 FOR UPDATE`, [projectId]);
}

export async function updateTokens(
  tx: Tx,
  { projectId, tokens, refilledAt }: { projectId: number; tokens: number; refilledAt: number },
): Promise<void> {
  await tx.prepared({
    name: 'sending.tokens',
    text: `UPDATE beckon.send_lock SET tokens = $2, refilled_at = $3 WHERE project_id = $1`,
    values: [projectId, tokens, new Date(refilledAt)],
  });
}
