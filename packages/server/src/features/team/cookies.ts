import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { equalInConstantTime } from '../../base/hash.ts';

/**
 * `__Host-`: browsers take such a cookie over https alone, for this host alone, and from nobody else. They refuse the name over
 * plain http, which a loopback address may be.
 */
export function cookieNames(publicOrigin: string): { prefix: string; session: string } {
  const prefix = publicOrigin.startsWith('https:') ? '__Host-beckon' : 'beckon';
  return { prefix, session: `${prefix}_session` };
}

/** The token of a session, if the cookie is one that we signed: who reads the database still cannot make one. */
export function readSessionToken(
  headers: IncomingHttpHeaders,
  { name, secret }: { name: string; secret: string },
): string | null {
  const value = readCookie(headers.cookie ?? '', name);
  if (value === null) return null;
  const dot = value.lastIndexOf('.');
  if (dot < 1) return null;
  const [token, signature] = [value.slice(0, dot), Buffer.from(value.slice(dot + 1), 'base64')];
  return equalInConstantTime(signature, createHmac('sha256', secret).update(token).digest()) ? token : null;
}

function readCookie(header: string, name: string): string | null {
  const pair = header
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`));
  if (pair === undefined) return null;
  try {
    return decodeURIComponent(pair.slice(name.length + 1));
  } catch {
    // A stranger's cookie under our name is no session of ours.
    return null;
  }
}
