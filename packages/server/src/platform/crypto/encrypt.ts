import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey, equalInConstantTime, hmacSha256 } from './hash.ts';

/**
 * Encrypts secrets at rest: AES-256-GCM with a key derived from the installation's secret for this purpose only. The owner and the place of
 * a secret (`bound`) are authenticated with it, so that a row copied to another place cannot be decrypted.
 *
 * version · name of the key (4) · nonce (12) · tag (16) · ciphertext
 */
export type Sealer = {
  seal(plain: Uint8Array, bound: string): Buffer;
  /** Also decrypts values encrypted with the previous secret. */
  open(sealed: Uint8Array, bound: string): Buffer;
  /** False for a value that must be re-encrypted before the previous secret is removed. */
  isCurrent(sealed: Uint8Array): boolean;
};

type Key = { bytes: Buffer; name: Buffer };

const VERSION = 1;
const NAME_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = 1 + NAME_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

export function createSealer(secret: string, previousSecret: string | null, purpose: string): Sealer {
  const current = keyOf(secret, purpose);
  const keys = previousSecret === null ? [current] : [current, keyOf(previousSecret, purpose)];
  return {
    seal(plain, bound) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(bound));
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), current.name, nonce, cipher.getAuthTag(), text]);
    },
    open(sealed, bound) {
      const bytes = Buffer.from(sealed);
      const key = keys.find((one) => isSealedBy(one, bytes));
      if (!key) throw new Error('This value was encrypted with an unknown secret key');
      const nonce = bytes.subarray(NONCE_AT, TAG_AT);
      const cipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(bound));
      cipher.setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
      return Buffer.concat([cipher.update(bytes.subarray(TEXT_AT)), cipher.final()]);
    },
    isCurrent: (sealed) => isSealedBy(current, Buffer.from(sealed)),
  };
}

/** The name identifies the key and reveals nothing about it. */
function keyOf(secret: string, purpose: string): Key {
  const bytes = deriveKey(secret, purpose);
  return { bytes, name: hmacSha256(bytes, 'name').subarray(0, NAME_BYTES) };
}

function isSealedBy({ name }: Key, sealed: Buffer): boolean {
  return (
    sealed.length >= TEXT_AT &&
    sealed[0] === VERSION &&
    equalInConstantTime(sealed.subarray(1, NONCE_AT), name)
  );
}
