import type { IncomingHttpHeaders } from 'node:http';
import { deriveKey, equalInConstantTime, hmacSha256, randomBase62 } from '../../../platform/crypto/hash.ts';
import { cookieLine, readCookie } from './cookies.ts';
import type { Password } from './reads.ts';

/**
 * A cookie showing that this browser signed in to an account before. It grants no access. It only gives the browser its own count of wrong
 * passwords, so that strangers cannot lock the owner out. It is bound to the member and their current password, so a new password
 * invalidates it, and to 90 days.
 */
export type KnownBrowsers = { cookieName: string; keys: readonly [Buffer, ...Buffer[]] };

const VALID_FOR_S = 90 * 24 * 60 * 60;
const ID_CHARS = 22;

/** `secrets`: the current one first. Cookies signed with the previous one stay valid. */
export function knownBrowsers(
  cookieName: string,
  [current, ...previous]: readonly [string, ...string[]],
): KnownBrowsers {
  const keyOf = (secret: string): Buffer => deriveKey(secret, 'known browsers');
  return { cookieName, keys: [keyOf(current), ...previous.map(keyOf)] };
}

/** Returns the cookie for a browser that has just signed in. A known browser keeps its id. */
export function rememberBrowser(
  { cookieName, keys }: KnownBrowsers,
  account: Password,
  { knownId, now }: { knownId: string | null; now: number },
): string {
  const id = knownId ?? randomBase62(ID_CHARS);
  const expiresAt = Math.floor(now / 1_000) + VALID_FOR_S;
  const mac = macOf(keys[0], account, { id, expiresAt }).toString('base64url');
  return cookieLine({ name: cookieName, value: `${id}.${expiresAt}.${mac}`, maxAgeS: VALID_FOR_S });
}

/** Returns the id of the browser if it signed in to this account, with its current password, in the last 90 days. */
export function knownBrowserId(
  { cookieName, keys }: KnownBrowsers,
  account: Password | undefined,
  { headers, now }: { headers: IncomingHttpHeaders; now: number },
): string | null {
  const match = PATTERN.exec(readCookie(headers, cookieName) ?? '');
  if (!match || !account) return null;
  const [, id = '', seconds = '', mac = ''] = match;
  const expiresAt = Number(seconds);
  const macBytes = Buffer.from(mac, 'base64url');
  const isOurs = keys.some((key) => equalInConstantTime(macBytes, macOf(key, account, { id, expiresAt })));
  return isOurs && expiresAt * 1_000 > now ? id : null;
}

const PATTERN = /^([0-9A-Za-z]{22})\.(\d{1,12})\.([\w-]{43})$/;

type Claim = { id: string; expiresAt: number };

function macOf(key: Buffer, { userId, hash }: Password, { id, expiresAt }: Claim): Buffer {
  return hmacSha256(key, [id, expiresAt, userId, hash].join('\n'));
}
