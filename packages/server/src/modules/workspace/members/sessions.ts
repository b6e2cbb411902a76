import { randomUUID } from 'node:crypto';
import { randomBase62 } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import { cookieLine, signedValue } from './cookies.ts';
import { insertSession } from './auth-store.ts';
import { type Caller, SESSION_S } from './team.ts';

/** `secret`: signs the cookie. */
export type SessionCookie = { name: string; secret: string };

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'>; session: SessionCookie };

const TOKEN_CHARS = 32;

/** Starts a session as better-auth would, for sign-ins that better-auth does not check. Returns its cookie. */
export async function startSession(
  { db, session }: Deps,
  { headers, address }: Caller,
  userId: string,
): Promise<string> {
  const token = newSessionToken();
  await insertSession(db, {
    id: randomUUID(),
    userId,
    token,
    address,
    userAgent: headers['user-agent'] ?? '',
    at: new Date(db.clock.now()),
    validForS: SESSION_S,
  });
  return sessionCookie(session, token);
}

export function newSessionToken(): string {
  return randomBase62(TOKEN_CHARS);
}

export function sessionCookie({ name, secret }: SessionCookie, token: string): string {
  return cookieLine({ name, value: signedValue(token, secret), maxAgeS: SESSION_S });
}
