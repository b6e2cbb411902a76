import { IDEMPOTENCY_KEY_MAX_CHARS } from '@beckon/contract';
import { sha256 } from '../../base/hash.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/**
 * A UUID is its sixteen bytes; of anything else half a SHA-256 is kept, so that what a customer put into a key is never
 * stored and the index stays small whatever its length.
 */
const KEY_BYTES = 16;

export type IdempotencyKey = { digest: Buffer; isUuidV4: boolean };

/** The key of a header, or null where it is no key: empty, too long, repeated, or with anything but visible ASCII. */
export function readIdempotencyKey(header: string): IdempotencyKey | null {
  const quoted = header.length > 1 && header.startsWith('"') && header.endsWith('"');
  const bare = quoted ? header.slice(1, -1) : header;
  if (bare.length > IDEMPOTENCY_KEY_MAX_CHARS || !VISIBLE_ASCII.test(bare)) return null;
  if (!UUID.test(bare)) return { digest: sha256(bare).subarray(0, KEY_BYTES), isUuidV4: false };
  return { digest: Buffer.from(bare.replaceAll('-', ''), 'hex'), isUuidV4: UUID_V4.test(bare) };
}
