import { coalesce } from '../../../platform/async/coalesce.ts';
import { equalInConstantTime, type Pepper } from '../../../platform/crypto/hash.ts';
import type { Log } from '../../../platform/log.ts';
import { recentMap } from '../../../platform/async/recent-map.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  hashSecret,
  type ApiKeyState,
  readSecret,
  SALT_BYTES,
  type KeyVerification,
  type VerifiedKey,
} from './key.ts';
import {
  type KeyCandidateRow,
  listLiveCandidates,
  listLiveIds,
  listProjectStates,
  type ProjectStateRow,
  updateHash,
} from './store.ts';

/**
 * Verifies API keys. `cached` answers from memory and may be out of date. Its callers check the database again, in the flush that commits
 * the request or with `check`. `verify` and `check` use a query that starts after the call, so they never miss an earlier revocation.
 */
export type Keyring = {
  cached(secret: string): VerifiedKey | undefined;
  verify(secret: string): Promise<KeyVerification>;
  check(key: VerifiedKey): Promise<ApiKeyState>;
  /** Removes a key from memory after a flush found it revoked or its project suspended. */
  forget(key: Pick<VerifiedKey, 'id'>): void;
};

export type KeyringDeps = { db: Tx; pepper: Pepper; log: Log };

const CACHED_KEYS_MAX = 10_000;
const ROUND_MAX = 1_000;
const TIME_LIMIT_MS = 5_000;

const UNKNOWN: KeyVerification = { state: 'unknown' };
const NO_SALT = Buffer.alloc(SALT_BYTES);
const NO_HASH = Buffer.alloc(32);

export function keyring(deps: KeyringDeps): Keyring {
  const cache = recentMap<VerifiedKey>(CACHED_KEYS_MAX);
  const limits = { roundMax: ROUND_MAX, timeLimitMs: TIME_LIMIT_MS };
  const findVerification = coalesce<string, KeyVerification>({
    ...limits,
    keyOf: (secret) => secret,
    load: (secrets) => findVerifications(deps, secrets),
  });
  const findState = coalesce<VerifiedKey, ApiKeyState>({
    ...limits,
    keyOf: (key) => key.id,
    load: (keys) => findStates(deps.db, keys),
  });
  const forget: Keyring['forget'] = ({ id }) => cache.deleteWhere((key) => key.id === id);

  return {
    forget,
    cached: (secret) => cache.get(secret),
    async verify(secret) {
      if (!readSecret(secret)) return UNKNOWN;
      const verification = await findVerification(secret);
      if (verification.state === 'live') cache.set(secret, verification.key);
      return verification;
    },
    async check(key) {
      const state = await findState(key);
      if (state !== 'live') forget(key);
      return state;
    },
  };
}

async function findVerifications(
  { db, pepper, log }: KeyringDeps,
  secrets: string[],
): Promise<KeyVerification[]> {
  const last4s = new Set(secrets.map((secret) => readSecret(secret)?.last4 ?? ''));
  const candidates = Map.groupBy(await listLiveCandidates(db, [...last4s]), bucketOf);
  const matches = secrets.map((secret) => matchSecret(secret, candidates, pepper));
  const projectIds = new Set(matches.flatMap((match) => (match ? [match.row.project_id] : [])));
  const projects = await findProjects(db, projectIds);
  for (const [i, match] of matches.entries()) {
    if (match?.stale) await renewHash({ db, pepper, log }, match.row, secrets[i] as string);
  }
  return matches.map((match) => (match ? verificationOf(match.row, projects) : UNKNOWN));
}

function bucketOf(row: { env: string; last4: string }): string {
  return `${row.env} ${row.last4}`;
}

type Match = { row: KeyCandidateRow; stale: boolean };

/**
 * Environment and last four characters are public and leave about one candidate. Without a candidate, the comparison takes as long as with
 * one.
 */
function matchSecret(
  secret: string,
  candidates: Map<string, KeyCandidateRow[]>,
  pepper: Pepper,
): Match | undefined {
  const parts = readSecret(secret);
  const rows = parts ? candidates.get(bucketOf(parts)) : undefined;
  let match: Match | undefined;
  for (const row of rows ?? [{ salt: NO_SALT, hash: NO_HASH }]) {
    const current = equalInConstantTime(hashSecret(pepper.current, row.salt, secret), row.hash);
    const previous =
      pepper.previous !== null &&
      equalInConstantTime(hashSecret(pepper.previous, row.salt, secret), row.hash);
    if ((current || previous) && 'id' in row) match = { row, stale: !current };
  }
  return match;
}

/** A correct key is accepted even if its hash cannot be renewed. The next request tries again. */
async function renewHash(
  { db, pepper, log }: KeyringDeps,
  row: KeyCandidateRow,
  secret: string,
): Promise<void> {
  const hash = hashSecret(pepper.current, row.salt, secret);
  try {
    await updateHash(db, { last4: row.last4, id: row.id, oldHash: row.hash, hash });
  } catch (error) {
    log.warn({ err: error, key_id: row.id }, 'api_key.hash_not_renewed');
  }
}

function verificationOf(row: KeyCandidateRow, projects: Map<number, ProjectStateRow>): KeyVerification {
  const project = projects.get(row.project_id);
  if (!project) return UNKNOWN;
  return {
    state: project.suspended ? 'suspended' : 'live',
    key: { id: row.id, projectId: row.project_id, last4: row.last4, livemode: project.livemode },
  };
}

/** Both statements start here, after all callers of the round have made their calls. */
async function findStates(db: Tx, keys: VerifiedKey[]): Promise<ApiKeyState[]> {
  const [liveIds, projects] = await Promise.all([
    listLiveIds(db, keys),
    findProjects(db, new Set(keys.map((key) => key.projectId))),
  ]);
  const live = new Set(liveIds);
  return keys.map((key) => {
    const project = projects.get(key.projectId);
    if (!live.has(key.id) || !project) return 'revoked';
    return project.suspended ? 'suspended' : 'live';
  });
}

async function findProjects(db: Tx, ids: Set<number>): Promise<Map<number, ProjectStateRow>> {
  const rows = ids.size === 0 ? [] : await listProjectStates(db, [...ids]);
  return new Map(rows.map((row) => [row.project_id, row]));
}
