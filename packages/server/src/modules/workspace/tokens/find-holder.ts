import { equalInConstantTime, type Pepper } from '../../../platform/crypto/hash.ts';
import type { Log } from '../../../platform/log.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type TokenCandidateRow, listCandidates, updateHash, updateLastUsed } from './store.ts';
import { hashToken, type PersonalToken, last4Of, SALT_BYTES } from './token.ts';

export type HolderDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'clock'>;
  pepper: Pepper;
  log: Log;
};

/** The minimum time between two writes of the last use. */
const USED_EVERY_MS = 60_000;
const DUMMY_CANDIDATE = { salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(32) };

/**
 * Finds the owner of a token. It queries the database each time, so that a revoked token stops working immediately. Returns null for every
 * reason for which the token is invalid.
 */
export async function findHolder(deps: HolderDeps, secret: string): Promise<PersonalToken | null> {
  const last4 = last4Of(secret);
  if (last4 === null) return null;
  const rows = await listCandidates(deps.db, { last4, now: new Date(deps.db.clock.now()) });
  const match = matchSecret(deps, secret, rows);
  if (!match) return null;
  const { row, isStale } = match;
  await note(deps, row, isStale ? secret : null);
  const { id, label, scopes, expiresAt, memberId, name, email } = row;
  return { id, label, scopes, expiresAt, member: { id: memberId, name, email } };
}

type Match = { row: TokenCandidateRow; isStale: boolean };

/** Takes as much time without a candidate as with one. */
function matchSecret({ pepper }: HolderDeps, secret: string, rows: TokenCandidateRow[]): Match | null {
  let match: Match | null = null;
  for (const row of rows.length === 0 ? [DUMMY_CANDIDATE] : rows) {
    const isCurrent = equalInConstantTime(hashToken(pepper.current, row.salt, secret), row.hash);
    const isPrevious =
      pepper.previous !== null && equalInConstantTime(hashToken(pepper.previous, row.salt, secret), row.hash);
    if ((isCurrent || isPrevious) && 'id' in row) match = { row, isStale: !isCurrent };
  }
  return match;
}

/** Records the use of a token. A valid token is accepted even if this write fails, and the next request tries again. */
async function note(
  { db, pepper, log }: HolderDeps,
  { id, salt, hash, lastUsedAt }: TokenCandidateRow,
  stale: string | null,
): Promise<void> {
  const now = db.clock.now();
  try {
    if (stale !== null)
      await updateHash(db, { id, oldHash: hash, hash: hashToken(pepper.current, salt, stale) });
    if (lastUsedAt === null || lastUsedAt.getTime() <= now - USED_EVERY_MS)
      await updateLastUsed(db, { id, at: new Date(now) });
  } catch (error) {
    log.warn({ err: error, token_id: id }, 'token.use_not_recorded');
  }
}
