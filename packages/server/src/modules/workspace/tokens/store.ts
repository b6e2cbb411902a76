/**
 * Signs a program in without a password. The program requests two codes. One stays with it. A signed-in member types the other, short one
 * into the dashboard and approves or denies.
 *
 * waiting ──approve──▶ approved ──fetch──▶ used
 * └──────deny──────▶ denied                     deleted after ten minutes in any state
 */

import type { TokenListed, TokenScope } from '@beckon/contract/dashboard';
import { readAs } from '../../../platform/db/read-as.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { WaitingCode } from './device-limit.ts';
import { TOKEN_PREFIX } from './token.ts';

export type DeviceState = 'waiting' | 'approved' | 'denied' | 'used';

export type DeviceQuery = {
  label: string;
  scopes: TokenScope[];
  address: string;
  requestedAt: Date;
  expiresAt: Date;
  state: DeviceState;
};

/** Rows of `team_token` and `team_device`. Neither belongs to a tenant: the owner of a token is found before their projects. */
export type TokenCandidateRow = {
  id: string;
  salt: Buffer;
  hash: Buffer;
  label: string;
  scopes: TokenScope[];
  expiresAt: Date;
  lastUsedAt: Date | null;
  memberId: string;
  name: string;
  email: string;
};

/**
 * Reads the tables of members. A token ends with the last membership that is older than the token. So a member who was removed
 * everywhere and returns later has to create new tokens.
 */
export function listCandidates(
  tx: Tx,
  { last4, now }: { last4: string; now: Date },
): Promise<TokenCandidateRow[]> {
  return tx.prepared({
    name: 'tokens.candidates',
    text: `SELECT t.id, t.salt, t.hash, t.label, t.scopes, t.expires_at AS "expiresAt", t.last_used_at AS "lastUsedAt",
             u.id AS "memberId", u.name, u.email
           FROM beckon.team_token t JOIN beckon.team_user u ON u.id = t.user_id
           WHERE t.last4 = $1 AND t.revoked_at IS NULL AND t.expires_at > $2
             AND EXISTS (SELECT 1 FROM beckon.team_member m WHERE m.user_id = t.user_id AND m.created_at <= t.created_at)`,
    values: [last4, now],
  });
}

/** Updates only the hash that was read. If two processes find the old one at once, both write the same value. */
export async function updateHash(
  tx: Tx,
  { id, oldHash, hash }: { id: string; oldHash: Buffer; hash: Buffer },
): Promise<void> {
  await tx.query(`UPDATE beckon.team_token SET hash = $2 WHERE id = $1 AND hash = $3`, [id, hash, oldHash]);
}

export async function updateLastUsed(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx.query(
    `UPDATE beckon.team_token SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`,
    [id, at],
  );
}

export type TokenRow = {
  id: string;
  userId: string;
  label: string;
  scopes: TokenScope[];
  last4: string;
  salt: Buffer;
  hash: Buffer;
  createdAt: Date;
  expiresAt: Date;
};

export async function insertToken(tx: Tx, row: TokenRow): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_token (id, user_id, label, scopes, last4, salt, hash, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [row.id, row.userId, row.label, row.scopes, row.last4, row.salt, row.hash, row.createdAt, row.expiresAt],
  );
}

export async function countLive(tx: Tx, { userId, now }: { userId: string; now: Date }): Promise<number> {
  const rows = await tx.query<{ tokens: number }>(
    `SELECT count(*) AS tokens FROM beckon.team_token WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2`,
    [userId, now],
  );
  return rows[0]?.tokens ?? 0;
}

const LISTED = `id, label, scopes, '${TOKEN_PREFIX}…' || last4 AS display, created_at, expires_at, last_used_at, revoked_at`;

/** Returns live tokens and those that ended since then, newest first. */
export function listTokenRows(
  tx: Tx,
  { userId, endedSince, limit }: { userId: string; endedSince: Date; limit: number },
): Promise<TokenListed[]> {
  return readAs(
    tx,
    `SELECT ${LISTED} FROM beckon.team_token WHERE user_id = $1 AND least(expires_at, revoked_at) > $2
     ORDER BY (revoked_at IS NULL) DESC, created_at DESC, id DESC LIMIT $3`,
    [userId, endedSince, limit],
  );
}

/** Keeps the time of the first revocation; a second one does not change it. */
export async function updateRevoked(
  tx: Tx,
  { id, userId, at }: { id: string; userId: string; at: Date },
): Promise<TokenListed | undefined> {
  const rows = await readAs<TokenListed>(
    tx,
    `UPDATE beckon.team_token SET revoked_at = coalesce(revoked_at, $3) WHERE id::text = $1 AND user_id = $2
     RETURNING ${LISTED}`,
    [id, userId, at],
  );
  return rows[0];
}

/**
 * Revokes all tokens of a member, and device codes that they approved but no program has fetched yet. It deletes the codes first, in the
 * order in which a fetch takes its locks. A token that is created from a code at the same time exists afterwards, and is found.
 */
export async function revokeTokensOf(tx: Tx, { userId, at }: { userId: string; at: Date }): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_device WHERE decided_by = $1`, [userId]);
  await tx.query(`UPDATE beckon.team_token SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL`, [
    userId,
    at,
  ]);
}

/** Deletes tokens that ended long ago, and those of users who are in no organization any more. */
export async function deleteTokens(tx: Tx, { endedBefore }: { endedBefore: Date }): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.team_token t WHERE least(t.expires_at, t.revoked_at) < $1
       OR NOT EXISTS (SELECT 1 FROM beckon.team_member m WHERE m.user_id = t.user_id)`,
    [endedBefore],
  );
}

export async function insertDevice(
  tx: Tx,
  row: Omit<DeviceQuery, 'state'> & { deviceHash: Buffer; codeHash: Buffer },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_device (device_hash, code_hash, label, scopes, address, requested_at, expires_at, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting')`,
    [row.deviceHash, row.codeHash, row.label, row.scopes, row.address, row.requestedAt, row.expiresAt],
  );
}

export async function countWaiting(tx: Tx): Promise<number> {
  const rows = await tx.query<{ waiting: number }>(
    `SELECT count(*) AS waiting FROM beckon.team_device WHERE state = 'waiting'`,
  );
  return rows[0]?.waiting ?? 0;
}

/** Lists the waiting codes, oldest first. */
export function listWaiting(tx: Tx, limit: number): Promise<WaitingCode[]> {
  return tx.query(
    `SELECT code_hash AS "codeHash", address FROM beckon.team_device WHERE state = 'waiting'
     ORDER BY requested_at, code_hash LIMIT $1`,
    [limit],
  );
}

/** Deletes those of the codes that still wait. One that was approved since belongs to the member who approved it. */
export async function deleteWaiting(tx: Tx, codes: WaitingCode[]): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_device WHERE code_hash = ANY ($1::bytea[]) AND state = 'waiting'`, [
    codes.map(({ codeHash }) => codeHash),
  ]);
}

const DEVICE = `label, scopes, address, requested_at AS "requestedAt", expires_at AS "expiresAt", state`;

export async function findDevice(
  tx: Tx,
  { codeHash, now }: { codeHash: Buffer; now: Date },
): Promise<DeviceQuery | undefined> {
  const rows = await tx.query<DeviceQuery>(
    `SELECT ${DEVICE} FROM beckon.team_device WHERE code_hash = $1 AND expires_at > $2`,
    [codeHash, now],
  );
  return rows[0];
}

export async function findDeviceState(
  tx: Tx,
  { deviceHash, now }: { deviceHash: Buffer; now: Date },
): Promise<DeviceState | undefined> {
  const rows = await tx.query<{ state: DeviceState }>(
    `SELECT state FROM beckon.team_device WHERE device_hash = $1 AND expires_at > $2`,
    [deviceHash, now],
  );
  return rows[0]?.state;
}

/** Records a decision. Only one of two concurrent decisions succeeds. */
export async function decideDevice(
  tx: Tx,
  decided: { codeHash: Buffer; now: Date; state: 'approved' | 'denied'; by: string; scopes: TokenScope[] },
): Promise<DeviceQuery | undefined> {
  const rows = await tx.query<DeviceQuery>(
    `UPDATE beckon.team_device SET state = $3, decided_by = $4, scopes = $5
     WHERE code_hash = $1 AND expires_at > $2 AND state = 'waiting' RETURNING ${DEVICE}`,
    [decided.codeHash, decided.now, decided.state, decided.by, decided.scopes],
  );
  return rows[0];
}

/** Marks an approved code as used. Only one of two concurrent fetches succeeds. */
export async function useDevice(
  tx: Tx,
  { deviceHash, now }: { deviceHash: Buffer; now: Date },
): Promise<{ label: string; scopes: TokenScope[]; memberId: string } | undefined> {
  const rows = await tx.query<{ label: string; scopes: TokenScope[]; memberId: string }>(
    `UPDATE beckon.team_device SET state = 'used' WHERE device_hash = $1 AND expires_at > $2 AND state = 'approved'
     RETURNING label, scopes, decided_by AS "memberId"`,
    [deviceHash, now],
  );
  return rows[0];
}

export async function deleteDevices(tx: Tx, { before }: { before: Date }): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.team_device WHERE device_hash IN (SELECT device_hash FROM beckon.team_device
       WHERE expires_at < $1 ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
    [before],
  );
}
