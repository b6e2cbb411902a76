/**
 * Encrypts the secrets without which a backup is useless with a passphrase: scrypt derives a key, AES-256-GCM encrypts the text. The costs
 * are stored in the file, so that they can grow later. The costs that a file may request are bounded, because anyone can write one.
 */

import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { BackupFailure } from '../failure.ts';

type Envelope = {
  format: 1;
  kdf: 'scrypt';
  n: number;
  r: number;
  p: number;
  salt: string;
  nonce: string;
  tag: string;
  encrypted: string;
};

const COST = { n: 2 ** 17, r: 8, p: 1 };
const N_MAX = 2 ** 20;
const R_MAX = 16;
const P_MAX = 4;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 16;
/** Its two secrets take a few hundred bytes. */
const ENVELOPE_MAX_BYTES = 64 * 1024;
export const PASSPHRASE_MIN_CHARS = 12;

export async function closeEnvelope(text: string, passphrase: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const key = await keyOf(passphrase, { ...COST, salt });
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const envelope: Envelope = {
    format: 1,
    kdf: 'scrypt',
    ...COST,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    encrypted: encrypted.toString('base64'),
  };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

export async function openEnvelope(file: string, passphrase: string): Promise<string> {
  const { n, r, p, ...texts } = parseEnvelope(file);
  const [salt, nonce, tag, encrypted] = [texts.salt, texts.nonce, texts.tag, texts.encrypted].map((text) =>
    Buffer.from(text, 'base64'),
  ) as [Buffer, Buffer, Buffer, Buffer];
  const key = await keyOf(passphrase, { n, r, p, salt });
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new BackupFailure(
      'wrong_passphrase',
      'The passphrase does not decrypt the secret key of this backup',
      error,
    );
  }
}

function keyOf(passphrase: string, cost: { n: number; r: number; p: number; salt: Buffer }): Promise<Buffer> {
  const { n, r, p, salt } = cost;
  return new Promise((resolve, reject) => {
    const limits = { N: n, r, p, maxmem: 256 * n * r };
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, limits, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** Parses only; the passphrase decides whether it can be decrypted. */
function parseEnvelope(file: string): Envelope {
  const read = tryParse(file);
  const isCost = (value: unknown, max: number): boolean =>
    Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= max;
  const isWhole =
    read?.format === 1 &&
    read.kdf === 'scrypt' &&
    isCost(read.n, N_MAX) &&
    (Number(read.n) & (Number(read.n) - 1)) === 0 &&
    Number(read.n) > 1 &&
    isCost(read.r, R_MAX) &&
    isCost(read.p, P_MAX) &&
    [read.salt, read.nonce, read.tag, read.encrypted].every((text) => typeof text === 'string');
  if (!isWhole) throw new BackupFailure('broken', 'The file with the secret key has an unknown format');
  return read as Envelope;
}

function tryParse(file: string): Partial<Record<keyof Envelope, unknown>> | null {
  if (file.length > ENVELOPE_MAX_BYTES) return null;
  try {
    const read: unknown = JSON.parse(file);
    return typeof read === 'object' && read !== null ? read : null;
  } catch {
    // Text that is not JSON is not an envelope, and the caller reports it.
    return null;
  }
}
