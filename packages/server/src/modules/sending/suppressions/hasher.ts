import { randomBytes } from 'node:crypto';
import { normaliseAddress } from '../../../platform/net/address.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { hmacSha256 } from '../../../platform/crypto/hash.ts';
import { resealAll, type Resealing, type Sealer } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { findSealedKey, insertSealedKey, type SuppressionKeyRow, updateSealedKey } from './store.ts';
import type { ClearPlace, HashedPlace } from './suppression.ts';

/**
 * Hashes the addresses and ids of erased users. Each project has its own key, derived from the installation's key, so that the hashes of
 * two projects cannot be joined.
 */
export type SuppressionHasher = {
  /** Identifies the key of a project without revealing anything about it. An export contains it, and an import compares it. */
  keyIdOf(projectId: number): string;
  hash(place: ClearPlace): HashedPlace;
};

const KEY_BYTES = 32;
const KEY_ID_CHARS = 16;
/** Deriving a key takes a microsecond. The bound limits memory if one process serves many projects. */
const KEYS_REMEMBERED_MAX = 1_000;

export function createSuppressionHasher(key: Uint8Array): SuppressionHasher {
  const keys = new Map<number, Buffer>();
  function keyOf(projectId: number): Buffer {
    const known = keys.get(projectId);
    if (known) return known;
    const made = hmacSha256(key, `suppression hash of project ${projectId}`);
    if (keys.size >= KEYS_REMEMBERED_MAX) keys.clear();
    keys.set(projectId, made);
    return made;
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

export type HasherDeps = { db: Tx; clock: Clock; sealer: Sealer };

/** Opens the installation's key. The first process that starts creates it. If several start at once, all use the one that was stored. */
export async function openSuppressionHasher({ db, clock, sealer }: HasherDeps): Promise<SuppressionHasher> {
  const known = await findSealedKey(db);
  if (!known) {
    const sealed = sealer.seal(randomBytes(KEY_BYTES), BOUND_TO);
    await insertSealedKey(db, { sealed, createdAt: new Date(clock.now()) });
  }
  const stored = known ?? (await findSealedKey(db));
  if (!stored) throw new Error('The suppression key was not stored');
  const key = openKey(sealer, stored);
  // Re-encrypts the key immediately, because a start with a secret key that cannot decrypt it fails. The job that re-encrypts everything
  // else runs later.
  if (!sealer.isCurrent(stored.sealed)) await updateSealedKey(db, { sealed: sealer.seal(key, BOUND_TO) });
  return createSuppressionHasher(key);
}

const BOUND_TO = 'suppression key';

function openKey(sealer: Sealer, { sealed }: SuppressionKeyRow): Buffer {
  try {
    return sealer.open(sealed, BOUND_TO);
  } catch (error) {
    const message =
      'The key for the addresses of erased users was encrypted with another secret key. Set SECRET_KEY_PREVIOUS to that secret key and start again';
    throw new Error(message, { cause: error });
  }
}

/** Re-encrypts the key with the current secret key. Returns the number of keys: 1 or 0. */
export function resealSuppressionKey(tx: Tx, given: Resealing): Promise<number> {
  return resealAll<SuppressionKeyRow>(given, {
    list: async (after) => {
      const key = after === null ? await findSealedKey(tx) : undefined;
      return key ? [key] : [];
    },
    boundTo: () => BOUND_TO,
    write: (keys) => Promise.all(keys.map((key) => updateSealedKey(tx, key))),
  });
}
