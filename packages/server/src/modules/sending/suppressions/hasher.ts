import { randomBytes } from 'node:crypto';
import { normaliseAddress } from '../../../platform/net/address.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { hmacSha256 } from '../../../platform/crypto/hash.ts';
import { reencryptAll, type ReencryptOptions, type Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { findEncryptedKey, insertEncryptedKey, type SuppressionKeyRow, updateEncryptedKey } from './store.ts';
import type { ClearTarget, HashedTarget } from './suppression.ts';

/**
 * Hashes the addresses and ids of erased users. Each project has its own key, derived from the installation's key, so that the hashes of
 * two projects cannot be joined.
 */
export type SuppressionHasher = {
  /** Identifies the key of a project without revealing anything about it. An export contains it, and an import compares it. */
  keyIdOf(projectId: number): string;
  hash(target: ClearTarget): HashedTarget;
};

const KEY_BYTES = 32;
const KEY_ID_CHARS = 16;
/** Deriving a key takes a microsecond. The bound limits memory if one process serves many projects. */
const KEYS_REMEMBERED_MAX = 1_000;

export function createSuppressionHasher(key: Uint8Array): SuppressionHasher {
  const keys = new Map<number, Buffer>();
  function keyOf(projectId: number): Buffer {
    const cached = keys.get(projectId);
    if (cached) return cached;
    const derived = hmacSha256(key, `suppression hash of project ${projectId}`);
    if (keys.size >= KEYS_REMEMBERED_MAX) keys.clear();
    keys.set(projectId, derived);
    return derived;
  }
  return {
    keyIdOf: (projectId) => hmacSha256(keyOf(projectId), 'key id').toString('hex').slice(0, KEY_ID_CHARS),
    hash({ projectId, kind, value }) {
      const text = kind === 'email' ? normaliseAddress(value) : value;
      // No kind contains a NUL character, so no address can be read as a user id.
      const hashed = hmacSha256(keyOf(projectId), `${kind}\0${text}`).toString('hex');
      return { projectId, kind: kind === 'email' ? 'email_hash' : 'user_hash', value: hashed };
    },
  };
}

export type HasherDeps = { db: Tx; clock: Clock; encrypter: Encrypter };

/** Opens the installation's key. The first process that starts creates it. If several start at once, all use the one that was stored. */
export async function openSuppressionHasher({
  db,
  clock,
  encrypter,
}: HasherDeps): Promise<SuppressionHasher> {
  const existing = await findEncryptedKey(db);
  if (!existing) {
    const encrypted = encrypter.encrypt(randomBytes(KEY_BYTES), BOUND_TO);
    await insertEncryptedKey(db, { encrypted, createdAt: new Date(clock.now()) });
  }
  const stored = existing ?? (await findEncryptedKey(db));
  if (!stored) throw new Error('The suppression key was not stored');
  const key = decryptKey(encrypter, stored);
  // Re-encrypts the key immediately, because a start with a secret key that cannot decrypt it fails. The job that re-encrypts everything
  // else runs later.
  if (!encrypter.isCurrent(stored.encrypted))
    await updateEncryptedKey(db, { encrypted: encrypter.encrypt(key, BOUND_TO) });
  return createSuppressionHasher(key);
}

const BOUND_TO = 'suppression key';

function decryptKey(encrypter: Encrypter, { encrypted }: SuppressionKeyRow): Buffer {
  try {
    return encrypter.decrypt(encrypted, BOUND_TO);
  } catch (error) {
    const message =
      'The key for the addresses of erased users was encrypted with another secret key. Set SECRET_KEY_PREVIOUS to that secret key and start again';
    throw new Error(message, { cause: error });
  }
}

/** Re-encrypts the key with the current secret key. Returns the number of keys: 1 or 0. */
export function reencryptSuppressionKey(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<SuppressionKeyRow>(options, {
    list: async (after) => {
      const key = after === null ? await findEncryptedKey(tx) : undefined;
      return key ? [key] : [];
    },
    boundTo: () => BOUND_TO,
    write: (keys) => Promise.all(keys.map((key) => updateEncryptedKey(tx, key))),
  });
}
