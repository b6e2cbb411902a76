import { randomUUID } from 'node:crypto';
import { Fault } from '../../../platform/fault.ts';
import { randomBase62, sha256 } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import { cookieLine, readCookie } from './cookies.ts';
import { insertChallenge, takeChallengeValue } from './passkey-store.ts';
import type { Caller } from './team.ts';

/** The purpose of a challenge. An answer to one ceremony is not accepted in another. */
export type Ceremony = 'registration' | 'sign_in' | 'confirmation';

export type ChallengeDeps = { db: Pick<Database, 'query' | 'prepared' | 'clock'>; cookieName: string };

/** `userId`: the member it was issued to, or null before sign-in. */
export type Purpose = { ceremony: Ceremony; userId: string | null };

const VALID_FOR_S = 5 * 60;
const TOKEN_CHARS = 32;

/** Returns the cookie that ties the challenge to this browser. The database holds only the hash of its value. */
export async function issueChallenge(
  { db, cookieName }: ChallengeDeps,
  challenge: string,
  purpose: Purpose,
): Promise<string> {
  const [token, now] = [randomBase62(TOKEN_CHARS), db.clock.now()];
  await insertChallenge(db, {
    id: randomUUID(),
    identifier: identifierOf(token),
    value: JSON.stringify({ ...purpose, challenge }),
    at: new Date(now),
    expiresAt: new Date(now + VALID_FOR_S * 1_000),
  });
  return cookieLine({ name: cookieName, value: token, maxAgeS: VALID_FOR_S });
}

/** Each challenge is valid for five minutes and for one answer, right or wrong. */
export async function takeChallenge(
  { db, cookieName }: ChallengeDeps,
  { headers }: Caller,
  { ceremony, userId }: Purpose,
): Promise<string> {
  const token = readCookie(headers, cookieName);
  if (token === null) throw expired();
  const place = { identifier: identifierOf(token), now: new Date(db.clock.now()) };
  const value = await takeChallengeValue(db, place);
  if (value === null) throw expired();
  const issued = JSON.parse(value) as Purpose & { challenge: string };
  if (issued.ceremony !== ceremony || issued.userId !== userId) throw expired();
  return issued.challenge;
}

function identifierOf(token: string): string {
  return `passkey ${sha256(token)}`;
}

function expired(): Fault {
  const message = 'This request expired or was already answered. Start again.';
  return new Fault('conflict', { details: [{ message }] });
}
