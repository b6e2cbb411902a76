import type { Tx } from '../../../platform/db/statements.ts';
import { lockFreeSendLock, type SendLockRow, updateTokens } from './lock-store.ts';

export type ThrottleBucket = { tokens: number; refilledAt: number };

/** Takes the send lock with the tokens of the throttle. Returns null if another worker holds it. */
export async function takeFreeSendLock(
  tx: Tx,
  projectId: number,
): Promise<{ bucket: ThrottleBucket | null; isSuspended: boolean } | null> {
  const row = await lockFreeSendLock(tx, projectId);
  return row && { bucket: toBucket(row), isSuspended: row.is_suspended };
}

/** Returns the last stored bucket. It takes no lock. */
export async function readBucket(tx: Tx, projectId: number): Promise<ThrottleBucket | null> {
  return toBucket(await findSendLock(tx, projectId));
}

function toBucket(row: SendLockRow | undefined): ThrottleBucket | null {
  return row && row.tokens !== null && row.refilled_at !== null
    ? { tokens: row.tokens, refilledAt: row.refilled_at.getTime() }
    : null;
}

export function keepBucket(tx: Tx, projectId: number, bucket: ThrottleBucket): Promise<void> {
  return updateTokens(tx, { projectId, ...bucket });
}

async function findSendLock(tx: Tx, projectId: number): Promise<SendLockRow | undefined> {
  const rows = await tx.query<SendLockRow>(
    `SELECT tokens, refilled_at FROM beckon.send_lock WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}
