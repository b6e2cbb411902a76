import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Returns the SHA-256 in hex, in one call. It creates no hash object and no buffer, whose memory is outside the heap and costs the garbage
 * collector more than the hashing.
 */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** The keys that secrets are hashed with. A hash made under the previous key is still valid, and is renewed when its secret is used. */
export type Pepper = { current: Buffer; previous: Buffer | null };

export function hmacSha256(key: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Derives a separate key for each purpose from the one secret of the installation. A key reveals nothing about the others. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `beckon ${purpose}`, 32));
}

export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte. Larger bytes are drawn again, because otherwise some characters would be more frequent. */
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
