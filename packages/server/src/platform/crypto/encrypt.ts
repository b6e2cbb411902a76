import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey, equalInConstantTime, hmacSha256 } from './hash.ts';
import type { Log } from '../log.ts';

/**
 * Encrypts secrets at rest: AES-256-GCM with a key derived from the installation's secret for this purpose only. The owner and the place of
 * a secret (`bound`) are authenticated with it, so that a row copied to another place cannot be decrypted.
 *
 * version · name of the key (4) · nonce (12) · tag (16) · ciphertext
 */
export type Encrypter = {
  encrypt(plain: Uint8Array, bound: string): Buffer;
  /** Also decrypts values encrypted with the previous secret. */
  decrypt(encrypted: Uint8Array, bound: string): Buffer;
  /** False for a value that must be re-encrypted before the previous secret is removed. */
  isCurrent(encrypted: Uint8Array): boolean;
};

type Key = { bytes: Buffer; name: Buffer };

const VERSION = 1;
const NAME_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = 1 + NAME_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

export function createEncrypter(secret: string, previousSecret: string | null, purpose: string): Encrypter {
  const current = keyOf(secret, purpose);
  const keys = previousSecret === null ? [current] : [current, keyOf(previousSecret, purpose)];
  return {
    encrypt(plain, bound) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(bound));
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), current.name, nonce, cipher.getAuthTag(), text]);
    },
    decrypt(encrypted, bound) {
      const bytes = Buffer.from(encrypted);
      const key = keys.find((candidate) => isEncryptedBy(candidate, bytes));
      if (!key) throw new Error('This value was encrypted with an unknown secret key');
      const nonce = bytes.subarray(NONCE_AT, TAG_AT);
      const cipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(bound));
      cipher.setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
      return Buffer.concat([cipher.update(bytes.subarray(TEXT_AT)), cipher.final()]);
    },
    isCurrent: (encrypted) => isEncryptedBy(current, Buffer.from(encrypted)),
  };
}

/** The name identifies the key and reveals nothing about it. */
function keyOf(secret: string, purpose: string): Key {
  const bytes = deriveKey(secret, purpose);
  return { bytes, name: hmacSha256(bytes, 'name').subarray(0, NAME_BYTES) };
}

function isEncryptedBy({ name }: Key, encrypted: Buffer): boolean {
  return (
    encrypted.length >= TEXT_AT &&
    encrypted[0] === VERSION &&
    equalInConstantTime(encrypted.subarray(1, NONCE_AT), name)
  );
}

export type ReencryptOptions = { encrypter: Encrypter; log: Log };

/** A table with encrypted values: its pages in order, the ids that each value is bound to, and the function that writes rows. */
type EncryptedTable<Row> = {
  list: (after: Row | null) => Promise<Row[]>;
  boundTo: (row: Row) => string;
  write: (rows: Row[]) => Promise<unknown>;
};

/**
 * Re-encrypts the values encrypted with the installation's previous secret, so that it can be removed. Returns their number. A value that
 * no secret decrypts is logged as a warning with its ids, and does not stop the others.
 */
export async function reencryptAll<Row extends { encrypted: Uint8Array }>(
  { encrypter, log }: ReencryptOptions,
  { list, boundTo, write }: EncryptedTable<Row>,
): Promise<number> {
  const reencrypted = (row: Row): Row[] => {
    if (encrypter.isCurrent(row.encrypted)) return [];
    try {
      return [
        {
          ...row,
          encrypted: encrypter.encrypt(encrypter.decrypt(row.encrypted, boundTo(row)), boundTo(row)),
        },
      ];
    } catch (error) {
      log.warn({ bound_to: boundTo(row), err: error }, 'secret.not_reencrypted');
      return [];
    }
  };
  let count = 0;
  let page = await list(null);
  while (page.length > 0) {
    const stale = page.flatMap(reencrypted);
    if (stale.length > 0) await write(stale);
    count += stale.length;
    page = await list(page.at(-1) ?? null);
  }
  return count;
}
