import { IDEMPOTENCY_KEY_MAX_CHARS } from '@beckon/contract';
import { sha256 } from '../../base/hash.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{12}$/;
const VARIANT = '89ab';
/**
 * A UUID is its sixteen bytes; of anything else half a SHA-256 is kept, so that what a customer put into a key is never
 * stored and the index stays small whatever its length.
 */
const DIGEST_HEX_CHARS = 32;

export type IdempotencyKey = { digest: string; isUuidV4: boolean };

/** The key of a header, or null where it is no key: empty, too long, repeated, or with anything but visible ASCII. */
export function readIdempotencyKey(header: string): IdempotencyKey | null {
  const quoted = header.length > 1 && header.startsWith('"') && header.endsWith('"');
  const bare = quoted ? header.slice(1, -1) : header;
  const uuid = bare.toLowerCase();
  const parts = UUID.exec(uuid);
  if (parts)
    return { digest: withoutHyphens(uuid), isUuidV4: parts[1] === '4' && VARIANT.includes(parts[2] ?? '-') };
  if (bare.length > IDEMPOTENCY_KEY_MAX_CHARS || !VISIBLE_ASCII.test(bare)) return null;
  return { digest: sha256(bare).slice(0, DIGEST_HEX_CHARS), isUuidV4: false };
}

function withoutHyphens(uuid: string): string {
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}
