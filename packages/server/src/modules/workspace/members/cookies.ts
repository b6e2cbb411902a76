import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { equalInConstantTime } from '../../../platform/crypto/hash.ts';

/**
 * `__Host-`: browsers accept such a cookie only over https, for exactly this host, and only from it. They refuse the name over plain http,
 * which a loopback address may use.
 */
export function cookieNames(publicOrigin: string): CookieNames {
  const prefix = publicOrigin.startsWith('https:') ? '__Host-beckon' : 'beckon';
  return {
    prefix,
    session: `${prefix}_session`,
    passkey: `${prefix}_passkey`,
    knownBrowser: `${prefix}_known`,
    // better-auth determines this name: the cookie of a sign-in that waits for its second factor.
    secondFactor: `${prefix}.two_factor`,
  };
}

export type CookieNames = Record<'prefix' | 'session' | 'passkey' | 'knownBrowser' | 'secondFactor', string>;

type Signed = { name: string; secret: string };

/** Signs a cookie's value as better-auth does, so that better-auth accepts a session opened here. */
export function signedValue(value: string, secret: string): string {
  return `${value}.${createHmac('sha256', secret).update(value).digest('base64')}`;
}

/** Returns the value of a cookie with a valid signature, or null. Read access to the database is not enough to forge one. */
export function readSignedCookie(headers: IncomingHttpHeaders, { name, secret }: Signed): string | null {
  const signed = readCookie(headers, name);
  if (signed === null) return null;
  const dot = signed.lastIndexOf('.');
  if (dot < 1) return null;
  const [value, signature] = [signed.slice(0, dot), Buffer.from(signed.slice(dot + 1), 'base64')];
  return equalInConstantTime(signature, createHmac('sha256', secret).update(value).digest()) ? value : null;
}

export function readCookie({ cookie = '' }: IncomingHttpHeaders, name: string): string | null {
  const pair = cookie
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`));
  if (pair === undefined) return null;
  try {
    return decodeURIComponent(pair.slice(name.length + 1));
  } catch {
    // A malformed cookie under our name counts as missing.
    return null;
  }
}

type NewCookie = { name: string; value: string; maxAgeS: number };

/** Returns a `Set-Cookie` line. Scripts cannot read the cookie, and other sites cannot have it sent with a form. */
export function cookieLine({ name, value, maxAgeS }: NewCookie): string {
  const secure = name.startsWith('__Host-') ? ' Secure;' : '';
  return `${name}=${encodeURIComponent(value)}; Max-Age=${maxAgeS}; Path=/; HttpOnly;${secure} SameSite=Lax`;
}
