import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * SHA-256 in one call, in hex: no hash object is built, and no buffer, whose
 * memory lies outside the heap and costs the garbage collector more than the hashing.
 */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

export function hmacSha256(key: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** One installation secret, many purposes: each purpose gets a key that tells nothing about the others. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `beckon ${purpose}`, 32));
}

export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte; larger bytes are drawn again, or some letters would come up more often. */
const BASE62_FAIR_BELOW = 248;

export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < BASE62_FAIR_BELOW && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}
