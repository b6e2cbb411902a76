import { IDEMPOTENCY_KEY_MAX_CHARS } from '@beckon/contract';
import { sha256 } from '../../../platform/crypto/hash.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{12}$/;
const VARIANT = '89ab';
/**
 * The length of a key: the 16 bytes of a UUID, or half a SHA-256 of any other key. So a customer's text in a key is never stored, and the
 * index stays small for any length.
 */
const DIGEST_HEX_CHARS = 32;

export type IdempotencyKey = { digest: string; isUuidV4: boolean };

/** Reads the key from a header. Returns null if it is empty, too long, repeated, or has anything but visible ASCII characters. */
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
