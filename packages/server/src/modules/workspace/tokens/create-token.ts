import { randomBytes } from 'node:crypto';
import type { TokenScope } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { countLive, deleteTokens, insertToken } from './store.ts';
import { ENDED_KEPT_MS, hashToken, newToken, SALT_BYTES, TOKEN_GOOD_MS } from './token.ts';

export type TokenInput = { memberId: string; label: string; scopes: TokenScope[] };

/** More than any member has machines. Two concurrent requests may both find the last free place. */
const LIVE_MAX = 50;

/** Creates a token. Only at this time does the whole token exist outside its owner's hands. */
export async function createToken(
  { tx, newId, pepper, now }: { tx: Tx; newId: NewId; pepper: Uint8Array; now: number },
  { memberId, label, scopes }: TokenInput,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const createdAt = new Date(now);
  await deleteTokens(tx, { endedBefore: new Date(now - ENDED_KEPT_MS) });
  if ((await countLive(tx, { userId: memberId, now: createdAt })) >= LIVE_MAX) throw tooMany();
  const [id, token, salt] = [newId(), newToken(), randomBytes(SALT_BYTES)];
  const expiresAt = new Date(now + TOKEN_GOOD_MS);
  const hash = hashToken(pepper, salt, token);
  const row = {
    id,
    userId: memberId,
    label,
    scopes,
    last4: token.slice(-4),
    salt,
    hash,
    createdAt,
    expiresAt,
  };
  await insertToken(tx, row);
  return { id, token, expiresAt };
}

function tooMany(): Fault {
  const message = `You have ${LIVE_MAX} active tokens, which is the maximum. Revoke one in your profile`;
  return new Fault('conflict', { details: [{ message }] });
}
