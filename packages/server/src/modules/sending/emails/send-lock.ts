import type { Tx } from '../../../platform/db/statements.ts';
import {
  insertSendLock,
  lockFreeSendLock,
  waitForSendLock,
  type SendLockRow,
  updateTokens,
} from './store.ts';
import { findSendLock } from './email-rows.ts';
import type { ThrottleBucket } from './limits.ts';

/**
 * Creates the send lock of a project, the right to send for it. One worker at a time claims the project's emails in order of their
 * deadlines, so that a single process counts caps and the throttle.
 */
export function createSendLock(tx: Tx, projectId: number): Promise<void> {
  return insertSendLock(tx, projectId);
}

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

/** Waits for the send lock. A request that pauses a project continues when no more emails can be claimed. */
export function takeSendLock(tx: Tx, projectId: number): Promise<void> {
  return waitForSendLock(tx, projectId);
}

export function keepBucket(tx: Tx, projectId: number, bucket: ThrottleBucket): Promise<void> {
  return updateTokens(tx, { projectId, ...bucket });
}
