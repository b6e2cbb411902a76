import type { OrganizationDetails, Role } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import type { SingleUseLink } from './link.ts';
import { deletePasskeys, deleteSessions } from './auth-store.ts';
import type { FactorRow } from './reads.ts';

/** Writes the `team_*` tables. better-auth writes factors, most sessions and most verifications; they are deleted here too. */
export async function insertOrganization(
  tx: Tx,
  row: { id: string; name: string; createdAt: Date },
): Promise<void> {
  await tx.query(`INSERT INTO beckon.team_organization (id, name, created_at) VALUES ($1, $2, $3)`, [
    row.id,
    row.name,
    row.createdAt,
  ]);
}

/** Serializes setups, so that two concurrent ones cannot both be the first. */
export async function lockOrganizations(tx: Tx): Promise<void> {
  await tx.query('LOCK TABLE beckon.team_organization IN SHARE ROW EXCLUSIVE MODE');
}

/** Locks an organization while its members change, so that one of two owners stays if both leave at once. */
export async function lockOrganization(tx: Tx, id: string): Promise<OrganizationDetails | undefined> {
  const rows = await tx.query<OrganizationDetails>(
    `SELECT id, name, requires_two_factor FROM beckon.team_organization WHERE id = $1 FOR UPDATE`,
    [id],
  );
  return rows[0];
}

export async function updateOrganization(
  tx: Tx,
  { id, name, requires_two_factor }: OrganizationDetails,
): Promise<void> {
  await tx.query(`UPDATE beckon.team_organization SET name = $2, requires_two_factor = $3 WHERE id = $1`, [
    id,
    name,
    requires_two_factor,
  ]);
}

/** Inserts a user. If the address is known, because a former member returns, the name is replaced. */
export async function upsertUser(
  tx: Tx,
  user: { id: string; name: string; email: string; at: Date },
): Promise<string> {
  const rows = await tx.query<{ id: string }>(
    `INSERT INTO beckon.team_user (id, name, email, email_verified, two_factor_enabled, created_at, updated_at)
     VALUES ($1, $2, $3, true, false, $4, $4)
     ON CONFLICT (email) DO UPDATE SET name = EXCLUDED.name, updated_at = EXCLUDED.updated_at RETURNING id`,
    [user.id, user.name, user.email.toLowerCase(), user.at],
  );
  if (!rows[0]) throw new Error('an upsert without a row');
  return rows[0].id;
}

export async function updateUserName(
  tx: Tx,
  { id, name, at }: { id: string; name: string; at: Date },
): Promise<void> {
  await tx.query(`UPDATE beckon.team_user SET name = $2, updated_at = $3 WHERE id = $1`, [id, name, at]);
}

/** Returns false if the password is no longer the one given, because another request changed it. */
export async function updatePassword(
  tx: Tx,
  { userId, from, to, at }: { userId: string; from: string; to: string; at: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.team_account SET password = $3, updated_at = $4
     WHERE user_id = $1 AND provider_id = 'credential' AND password = $2 RETURNING 1`,
    [userId, from, to, at],
  );
  return rows.length > 0;
}

export async function upsertPassword(
  tx: Tx,
  { id, userId, hash, at }: { id: string; userId: string; hash: string; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_account (id, user_id, account_id, provider_id, password, created_at, updated_at)
     VALUES ($1, $2, $2, 'credential', $3, $4, $4)
     ON CONFLICT (user_id, provider_id) DO UPDATE SET password = EXCLUDED.password, updated_at = EXCLUDED.updated_at`,
    [id, userId, hash, at],
  );
}

export async function deleteTwoFactor(tx: Tx, userId: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_two_factor WHERE user_id = $1`, [userId]);
  await tx.query(`UPDATE beckon.team_user SET two_factor_enabled = false WHERE id = $1`, [userId]);
}

/** Returns false if it changed in between: a backup code was used, or an app was set up again. */
export async function updateFactor(
  tx: Tx,
  factor: FactorRow,
  { secret, backupCodes }: Omit<FactorRow, 'id'>,
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.team_two_factor SET secret = $4, backup_codes = $5
     WHERE id = $1 AND secret = $2 AND backup_codes = $3 RETURNING 1`,
    [factor.id, factor.secret, factor.backupCodes, secret, backupCodes],
  );
  return rows.length > 0;
}

/** Deletes everything of a user who is in no organization any more, except the name, which past actions refer to. */
export async function deleteWaysIn(tx: Tx, userId: string): Promise<void> {
  await deleteSessions(tx, { userId });
  await deleteChallenges(tx, userId);
  await deleteTwoFactor(tx, userId);
  await deletePasskeys(tx, userId);
  await tx.query(`DELETE FROM beckon.team_account WHERE user_id = $1`, [userId]);
}

export type Membership = { organizationId: string; userId: string };

export async function upsertMember(tx: Tx, row: Membership & { role: Role; at: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_member (organization_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (organization_id, user_id) DO UPDATE SET role = EXCLUDED.role`,
    [row.organizationId, row.userId, row.role, row.at],
  );
}

export async function updateWantsDigest(
  tx: Tx,
  row: Membership & { wantsDigest: boolean },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.team_member SET wants_digest = $3 WHERE organization_id = $1 AND user_id = $2 RETURNING user_id`,
    [row.organizationId, row.userId, row.wantsDigest],
  );
  return rows.length > 0;
}

/** Returns the number of organizations that the user still belongs to. */
export async function deleteMember(tx: Tx, { organizationId, userId }: Membership): Promise<number> {
  await tx.query(`DELETE FROM beckon.team_member WHERE organization_id = $1 AND user_id = $2`, [
    organizationId,
    userId,
  ]);
  const rows = await tx.query(`SELECT 1 FROM beckon.team_member WHERE user_id = $1`, [userId]);
  return rows.length;
}

export async function insertLink(tx: Tx, hash: string, link: SingleUseLink): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_link WHERE expires_at < $1`, [link.createdAt]);
  await tx.query(
    `INSERT INTO beckon.team_link (token_hash, id, kind, email, organization_id, role, clears_two_factor, created_by,
       created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      hash,
      link.id,
      link.kind,
      link.email,
      link.organizationId,
      link.role,
      link.clearsTwoFactor,
      link.createdBy,
      link.createdAt,
      link.expiresAt,
    ],
  );
}

const LINK = `id, kind, email, organization_id AS "organizationId", role, clears_two_factor AS "clearsTwoFactor",
  created_by AS "createdBy", created_at AS "createdAt", expires_at AS "expiresAt"`;

export async function findLink(tx: Tx, hash: string, now: Date): Promise<SingleUseLink | undefined> {
  const rows = await tx.query<SingleUseLink>(
    `SELECT ${LINK} FROM beckon.team_link WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2`,
    [hash, now],
  );
  return rows[0];
}

/** Marks a link as used. Only one of two concurrent requests succeeds. */
export async function useLink(tx: Tx, hash: string, now: Date): Promise<SingleUseLink | undefined> {
  const rows = await tx.query<SingleUseLink>(
    `UPDATE beckon.team_link SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2
     RETURNING ${LINK}`,
    [hash, now],
  );
  return rows[0];
}

/** Returns unused invitations. */
export function listInvites(tx: Tx, organizationId: string, now: Date): Promise<SingleUseLink[]> {
  return tx.query(
    `SELECT ${LINK} FROM beckon.team_link WHERE organization_id = $1 AND kind = 'invite' AND used_at IS NULL
       AND expires_at > $2 ORDER BY created_at DESC, id`,
    [organizationId, now],
  );
}

export async function deleteInvite(
  tx: Tx,
  { id, organizationId }: { id: string; organizationId: string },
): Promise<SingleUseLink | undefined> {
  const rows = await tx.query<SingleUseLink>(
    `DELETE FROM beckon.team_link WHERE id = $1 AND organization_id = $2 AND kind = 'invite' AND used_at IS NULL
     RETURNING ${LINK}`,
    [id, organizationId],
  );
  return rows[0];
}

/**
 * Deletes unused links to a person: when a newer one is made, and when they are no longer a member. `sparesOperator` keeps links that an
 * operator made.
 */
export async function deleteLinksTo(
  tx: Tx,
  { email, kind, organizationId, sparesOperator = false }: LinksTo,
): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.team_link WHERE email = $1 AND kind = $2 AND organization_id IS NOT DISTINCT FROM $3
       AND used_at IS NULL AND NOT ($4 AND created_by = 'operator')`,
    [email, kind, organizationId, sparesOperator],
  );
}

type LinksTo = {
  email: string;
  kind: SingleUseLink['kind'];
  organizationId: string | null;
  sparesOperator?: boolean;
};

/** Deletes the invitations of a member who may no longer make them. Otherwise the former member could return with a link that they kept. */
export async function deleteInvitesBy(
  tx: Tx,
  {
    organizationId,
    createdBy,
    ownersOnly,
  }: { organizationId: string; createdBy: string; ownersOnly: boolean },
): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.team_link WHERE organization_id = $1 AND created_by = $2 AND kind = 'invite' AND used_at IS NULL
       AND (role = 'owner' OR NOT $3)`,
    [organizationId, createdBy, ownersOnly],
  );
}

/** Deletes sign-ins that wait for their second factor. */
export async function deleteChallenges(tx: Tx, userId: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_verification WHERE value = $1`, [userId]);
}

/** Deletes sign-ins that were never finished. */
export async function deleteOldChallenges(tx: Tx, { before }: { before: Date }): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.team_verification WHERE id IN (SELECT id FROM beckon.team_verification WHERE expires_at < $1
       ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
    [before],
  );
}
