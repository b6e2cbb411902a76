import type { Tx } from '../../io/db/index.ts';
import { insertSendTurn, lockFreeSendTurn, lockSendTurn, type SendTurnRow, updateTokens } from './store.ts';
import { findSendTurn } from './messages.ts';
import type { Bucket } from './throttle.ts';

/**
 * Whose lock is the right to send for a project: one worker claims its letters at a time, in the order of their deadlines,
 * so that caps and throttle are counted by one hand.
 */
export function openSendTurn(tx: Tx, projectId: number): Promise<void> {
  return insertSendTurn(tx, projectId);
}

/** With the tokens of its throttle; null where another worker has it. */
export async function takeFreeSendTurn(
  tx: Tx,
  projectId: number,
): Promise<{ bucket: Bucket | null; isSuspended: boolean } | null> {
  const row = await lockFreeSendTurn(tx, projectId);
  return row && { bucket: toBucket(row), isSuspended: row.is_suspended };
}

/** As it was left last; nothing is locked. */
export async function readBucket(tx: Tx, projectId: number): Promise<Bucket | null> {
  return toBucket(await findSendTurn(tx, projectId));
}

function toBucket(row: SendTurnRow | undefined): Bucket | null {
  return row && row.tokens !== null && row.refilled_at !== null
    ? { tokens: row.tokens, refilledAt: row.refilled_at.getTime() }
    : null;
}

/** Waits for it: whoever pauses a project goes on when nothing more can be claimed. */
export function takeSendTurn(tx: Tx, projectId: number): Promise<void> {
  return lockSendTurn(tx, projectId);
}

export function keepBucket(tx: Tx, projectId: number, bucket: Bucket): Promise<void> {
  return updateTokens(tx, { projectId, ...bucket });
}
