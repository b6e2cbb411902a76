import type { Tx } from '../../../platform/db/statements.ts';
import { insertSendTurn, lockFreeSendTurn, lockSendTurn, type SendTurnRow, updateTokens } from './store.ts';
import { findSendTurn } from './email-rows.ts';
import type { ThrottleBucket } from './limits.ts';

/**
 * Creates the send lock of a project, the right to send for it. One worker at a time claims the project's emails in order of their
 * deadlines, so that a single process counts caps and the throttle.
 */
export function openSendTurn(tx: Tx, projectId: number): Promise<void> {
  return insertSendTurn(tx, projectId);
}

/** Takes the send lock with the tokens of the throttle. Returns null if another worker holds it. */
export async function takeFreeSendTurn(
  tx: Tx,
  projectId: number,
): Promise<{ bucket: ThrottleBucket | null; isSuspended: boolean } | null> {
  const row = await lockFreeSendTurn(tx, projectId);
  return row && { bucket: toBucket(row), isSuspended: row.is_suspended };
}

/** Returns the last stored bucket. It takes no lock. */
export async function readBucket(tx: Tx, projectId: number): Promise<ThrottleBucket | null> {
  return toBucket(await findSendTurn(tx, projectId));
}

function toBucket(row: SendTurnRow | undefined): ThrottleBucket | null {
  return row && row.tokens !== null && row.refilled_at !== null
    ? { tokens: row.tokens, refilledAt: row.refilled_at.getTime() }
    : null;
}

/** Waits for the send lock. A request that pauses a project continues when no more emails can be claimed. */
export function takeSendTurn(tx: Tx, projectId: number): Promise<void> {
  return lockSendTurn(tx, projectId);
}

export function keepBucket(tx: Tx, projectId: number, bucket: ThrottleBucket): Promise<void> {
  return updateTokens(tx, { projectId, ...bucket });
}
