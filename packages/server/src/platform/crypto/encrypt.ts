import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey, equalInConstantTime, hmacSha256 } from './hash.ts';
import type { Log } from '../log.ts';

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

export type Resealing = { sealer: Sealer; log: Log };

/** A table with encrypted values: its pages in order, the ids that each value is bound to, and the function that writes rows. */
type SealedTable<Row> = {
  list: (after: Row | null) => Promise<Row[]>;
  boundTo: (row: Row) => string;
  write: (rows: Row[]) => Promise<unknown>;
};

/**
 * Re-encrypts the values encrypted with the installation's previous secret, so that it can be removed. Returns their number. A value that
 * no secret decrypts is logged as a warning with its ids, and does not stop the others.
 */
export async function resealAll<Row extends { sealed: Uint8Array }>(
  { sealer, log }: Resealing,
  { list, boundTo, write }: SealedTable<Row>,
): Promise<number> {
  const again = (row: Row): Row[] => {
    if (sealer.isCurrent(row.sealed)) return [];
    try {
      return [{ ...row, sealed: sealer.seal(sealer.open(row.sealed, boundTo(row)), boundTo(row)) }];
    } catch (error) {
      log.warn({ bound_to: boundTo(row), err: error }, 'secret.not_reencrypted');
      return [];
    }
  };
  let resealed = 0;
  let page = await list(null);
  while (page.length > 0) {
    const stale = page.flatMap(again);
    if (stale.length > 0) await write(stale);
    resealed += stale.length;
    page = await list(page.at(-1) ?? null);
  }
  return resealed;
}
