import type { HookRequest, HookVerdict } from './adapter.ts';
import { equalInConstantTime, sha256 } from '../crypto/hash.ts';

/** How far the time in a signed request may be from ours. A provider signs again when it retries. */
const TOLERANCE_MS = 5 * 60_000;

export function freshness(signedAt: number | null, now: number): HookVerdict {
  if (signedAt === null) return 'invalid';
  return Math.abs(now - signedAt) <= TOLERANCE_MS ? 'valid' : 'stale';
}

/** Returns a header that occurs once. */
export function header({ headers }: HookRequest, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Compares secrets by their hashes, so that the time shows neither the secret nor its length. */
export function isSecret(given: string | null, secret: string | undefined): boolean {
  if (given === null || secret === undefined || secret === '') return false;
  return equalInConstantTime(Buffer.from(sha256(given)), Buffer.from(sha256(secret)));
}

/** Returns the password of HTTP basic authentication. */
export function basicPassword(request: HookRequest): string | null {
  const [, encoded] = /^basic +([a-z\d+/=]{1,2000})$/i.exec(header(request, 'authorization') ?? '') ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : text.slice(colon + 1);
}

/** Decodes base64 strictly: Node.js would skip other characters. */
export function strictBase64(text: string | null): Buffer | null {
  if (text === null || text === '' || text.length > 4_096) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
