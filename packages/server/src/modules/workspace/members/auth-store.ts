/** Rows of `team_session`. better-auth inserts most of them; those for passkeys are inserted here. */

import type { Tx } from '../../../platform/db/statements.ts';

type NewSession = {
  id: string;
  userId: string;
  token: string;
  address: string;
  userAgent: string;
  at: Date;
  validForS: number;
};

/** Sets the expiry by the clock of the database, against which every request is checked. */
export async function insertSession(tx: Tx, row: NewSession): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_session (id, user_id, token, ip_address, user_agent, created_at, updated_at, confirmed_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6, $6, now() + make_interval(secs => $7))`,
    [row.id, row.userId, row.token, row.address, row.userAgent, row.at, row.validForS],
  );
}

export async function updateConfirmed(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx.query(`UPDATE beckon.team_session SET confirmed_at = $2 WHERE id = $1`, [id, at]);
}

/** Replaces the token of a session. The old cookie stops working, and the same session continues with the new one. */
export async function updateSessionToken(
  tx: Tx,
  { id, token }: { id: string; token: string },
): Promise<void> {
  await tx.query(`UPDATE beckon.team_session SET token = $2 WHERE id = $1`, [id, token]);
}

/** Returns the number of ended sessions. `except`: the session that stays. */
export async function deleteSessions(
  tx: Tx,
  { userId, only = null, except = null }: { userId: string; only?: string | null; except?: string | null },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.team_session WHERE user_id = $1 AND ($2::text IS NULL OR id = $2)
       AND ($3::text IS NULL OR id <> $3) RETURNING id`,
    [userId, only, except],
  );
  return rows.length;
}

export async function deleteSessionByToken(tx: Tx, token: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_session WHERE token = $1`, [token]);
}

/** Rows of `team_passkey`, and those rows of `team_verification` that hold a passkey challenge. */
type PasskeyRow = {
  id: string;
  userId: string;
  name: string;
  credentialId: string;
  /** COSE, in Base64. */
  publicKey: string;
  counter: number;
  transports: string;
  createdAt: Date;
};

/** Returns false if the credential is registered already, for this member or another. */
export async function insertPasskey(tx: Tx, row: PasskeyRow): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.team_passkey (id, user_id, name, credential_id, public_key, counter, transports, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (credential_id) DO NOTHING RETURNING 1`,
    [
      row.id,
      row.userId,
      row.name,
      row.credentialId,
      row.publicKey,
      row.counter,
      row.transports,
      row.createdAt,
    ],
  );
  return rows.length > 0;
}

/**
 * Stores the authenticator's usage counter. Returns false if the stored counter is not lower, which means that another copy of the passkey
 * was used in between. Many authenticators do not count and always report 0.
 */
export async function advanceCounter(
  tx: Tx,
  { id, counter }: { id: string; counter: number },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.team_passkey SET counter = $2 WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING 1`,
    [id, counter],
  );
  return rows.length > 0;
}

export async function deletePasskey(
  tx: Tx,
  { id, userId }: { id: string; userId: string },
): Promise<string | null> {
  const rows = await tx.query<{ name: string | null }>(
    `DELETE FROM beckon.team_passkey WHERE id = $1 AND user_id = $2 RETURNING coalesce(name, 'Passkey') AS name`,
    [id, userId],
  );
  return rows[0]?.name ?? null;
}

/** Returns the number of deleted passkeys. */
export async function deletePasskeys(tx: Tx, userId: string): Promise<number> {
  const rows = await tx.query(`DELETE FROM beckon.team_passkey WHERE user_id = $1 RETURNING 1`, [userId]);
  return rows.length;
}

type ChallengeRow = { id: string; identifier: string; value: string; at: Date; expiresAt: Date };

export async function insertChallenge(
  tx: Tx,
  { id, identifier, value, at, expiresAt }: ChallengeRow,
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_verification (id, identifier, value, expires_at, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $5)`,
    [id, identifier, value, expiresAt, at],
  );
}

/** Deletes the challenge while reading it: of two concurrent answers, only one is checked. */
export async function takeChallengeValue(
  tx: Tx,
  { identifier, now }: { identifier: string; now: Date },
): Promise<string | null> {
  const rows = await tx.query<{ value: string; isLive: boolean }>(
    `DELETE FROM beckon.team_verification WHERE identifier = $1 RETURNING value, expires_at > $2 AS "isLive"`,
    [identifier, now],
  );
  return rows[0]?.isLive ? rows[0].value : null;
}

export type AuthAttemptCount = { count: number; windowEndsAt: Date };

/** Increments the count of this key. */
export async function countUse(
  tx: Tx,
  { key, now, windowEndsAt }: { key: string; now: Date; windowEndsAt: Date },
): Promise<AuthAttemptCount> {
  await tx.query(
    `DELETE FROM beckon.team_attempt WHERE key IN (SELECT key FROM beckon.team_attempt WHERE window_ends_at < $1
       ORDER BY window_ends_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
    [now],
  );
  const rows = await tx.query<AuthAttemptCount>(
    `INSERT INTO beckon.team_attempt AS a (key, count, window_ends_at) VALUES ($1, 1, $3)
     ON CONFLICT (key) DO UPDATE SET
       count = CASE WHEN a.window_ends_at <= $2 THEN 1 ELSE a.count + 1 END,
       window_ends_at = CASE WHEN a.window_ends_at <= $2 THEN $3 ELSE a.window_ends_at END
     RETURNING count, window_ends_at AS "windowEndsAt"`,
    [key, now, windowEndsAt],
  );
  const [counted] = rows;
  if (!counted) throw new Error('the counter row is missing');
  return counted;
}

export async function deleteCounts(tx: Tx, keys: string[]): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_attempt WHERE key = ANY ($1::text[])`, [keys]);
}

/** Decrements one key after the other, in the order in which attempts are counted. */
export async function decrementCounts(tx: Tx, keys: string[]): Promise<void> {
  for (const key of keys)
    await tx.query(`UPDATE beckon.team_attempt SET count = greatest(0, count - 1) WHERE key = $1`, [key]);
}
