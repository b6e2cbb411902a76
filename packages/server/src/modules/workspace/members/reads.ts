/**
 * Reads of the tables `team_*`. Where a statement joins `project`, it finds the organization of a project or the projects of an
 * organization. That table belongs to the administration module.
 */

import type {
  MemberListed,
  OrganizationDetails,
  OrganizationListed,
  OrganizationOfMine,
  PasskeyListed,
  Role,
  SessionListed,
} from '@beckon/contract/dashboard';
import { readAs } from '../../../platform/db/read-as.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { SignedInMember } from './team.ts';

/** Uses the time of the database, because sessions do not follow the clock of a project. */
export async function findMemberByToken(tx: Tx, token: string): Promise<SignedInMember | undefined> {
  const rows = await tx.prepared<SignedInMember>({
    name: 'team.signed_in',
    text: `SELECT u.id, u.name, u.email, s.id AS "sessionId", s.confirmed_at AS "confirmedAt" FROM beckon.team_session s
           JOIN beckon.team_user u ON u.id = s.user_id WHERE s.token = $1 AND s.expires_at > now()`,
    values: [token],
  });
  return rows[0];
}

/** `lacksFactor`: the organization requires an authenticator app, and the member has none. */
export type RoleRow = { role: Role; lacksFactor: boolean };

const LACKS_FACTOR = `(o.requires_two_factor AND u.two_factor_enabled IS NOT TRUE)`;
const OF_MEMBER = `FROM beckon.team_member m JOIN beckon.team_organization o ON o.id = m.organization_id
  JOIN beckon.team_user u ON u.id = m.user_id`;

/** Reads `project` to find the organization of the project. */
export async function findRole(tx: Tx, memberId: string, projectId: number): Promise<RoleRow | undefined> {
  const rows = await tx.prepared<RoleRow>({
    name: 'team.role',
    text: `SELECT m.role, ${LACKS_FACTOR} AS "lacksFactor" ${OF_MEMBER}
           JOIN beckon.project p ON p.organization_id = m.organization_id
           WHERE m.user_id = $1 AND p.project_id = $2`,
    values: [memberId, projectId],
  });
  return rows[0];
}

export function listRoles(tx: Tx, memberId: string): Promise<{ projectId: number; role: Role }[]> {
  return tx.prepared({
    name: 'team.roles',
    text: `SELECT p.project_id AS "projectId", m.role ${OF_MEMBER}
           JOIN beckon.project p ON p.organization_id = m.organization_id
           WHERE m.user_id = $1 AND NOT ${LACKS_FACTOR}`,
    values: [memberId],
  });
}

/** Returns the organizations in which this member may create projects. */
export function listOrganizationsToMakeIn(tx: Tx, memberId: string): Promise<{ id: string; name: string }[]> {
  return tx.query(
    `SELECT o.id, o.name ${OF_MEMBER} WHERE m.user_id = $1 AND m.role IN ('admin', 'owner') AND NOT ${LACKS_FACTOR}
     ORDER BY o.created_at, o.id`,
    [memberId],
  );
}

const COUNTS = `o.requires_two_factor,
            (SELECT count(*)::int FROM beckon.project p WHERE p.organization_id = o.id AND p.sandbox_of IS NULL) AS projects,
            (SELECT count(*)::int FROM beckon.team_member c WHERE c.organization_id = o.id) AS members`;

export function listOrganizationsOf(tx: Tx, memberId: string): Promise<OrganizationListed[]> {
  return tx.query(
    `SELECT o.id, o.name, m.role, ${COUNTS}
     ${OF_MEMBER} WHERE m.user_id = $1 AND NOT ${LACKS_FACTOR} ORDER BY o.created_at, o.id`,
    [memberId],
  );
}

/** Returns all organizations, as an owner of each would see them. */
export function listOrganizationsAsOwner(tx: Pick<Tx, 'query'>): Promise<OrganizationListed[]> {
  return tx.query(
    `SELECT o.id, o.name, 'owner' AS role, ${COUNTS} FROM beckon.team_organization o ORDER BY o.created_at, o.id`,
  );
}

export function listNames(tx: Tx, ids: string[]): Promise<{ id: string; name: string }[]> {
  return tx.query(`SELECT id, name FROM beckon.team_user WHERE id = ANY ($1::text[])`, [ids]);
}

/** Returns whether there is an owner who can sign in. */
export async function isSetUp(tx: Tx): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM beckon.team_member m JOIN beckon.team_account a ON a.user_id = m.user_id
     WHERE m.role = 'owner' LIMIT 1`,
  );
  return rows.length > 0;
}

const WANTS_DIGEST = `coalesce(m.wants_digest, m.role <> 'viewer')`;

export function listMemberships(tx: Tx, memberId: string): Promise<OrganizationOfMine[]> {
  return tx.query(
    `SELECT o.id, o.name, m.role, o.requires_two_factor, ${LACKS_FACTOR} AS must_set_up_two_factor,
            ${WANTS_DIGEST} AS wants_digest ${OF_MEMBER}
     WHERE m.user_id = $1 ORDER BY o.created_at, o.id`,
    [memberId],
  );
}

export type UserRow = {
  id: string;
  name: string;
  email: string;
  /** They can sign in with a password. A member who was removed everywhere is only a name. */
  hasAccount: boolean;
  twoFactor: boolean;
};

const USER = `SELECT u.id, u.name, u.email, u.two_factor_enabled IS TRUE AS "twoFactor",
  EXISTS (SELECT 1 FROM beckon.team_account a WHERE a.user_id = u.id) AS "hasAccount" FROM beckon.team_user u`;

export async function findUserByEmail(tx: Tx, email: string): Promise<UserRow | undefined> {
  return (await tx.query<UserRow>(`${USER} WHERE u.email = $1`, [email.toLowerCase()]))[0];
}

export async function findUserById(tx: Tx, id: string): Promise<UserRow | undefined> {
  return (await tx.query<UserRow>(`${USER} WHERE u.id = $1`, [id]))[0];
}

export type Password = { userId: string; hash: string };

const PASSWORD = `SELECT a.user_id AS "userId", a.password AS hash FROM beckon.team_account a
  JOIN beckon.team_user u ON u.id = a.user_id WHERE a.provider_id = 'credential'`;

/** Waits for a transaction that is changing the password. */
export async function findPassword(tx: Tx, email: string): Promise<Password | undefined> {
  const text = `${PASSWORD} AND u.email = $1 FOR SHARE OF a`;
  return (await tx.query<Password>(text, [email.toLowerCase()]))[0];
}

export async function findPasswordOf(tx: Tx, userId: string): Promise<Password | undefined> {
  return (await tx.query<Password>(`${PASSWORD} AND u.id = $1 FOR SHARE OF a`, [userId]))[0];
}

/** Returns the member whose sign-in waits for the second factor. better-auth stores the member's id under the value of its cookie. */
export async function findSecondFactorUser(tx: Tx, identifier: string): Promise<string | undefined> {
  const rows = await tx.query<{ userId: string }>(
    `SELECT u.id AS "userId" FROM beckon.team_verification v JOIN beckon.team_user u ON u.id = v.value
     WHERE v.identifier = $1`,
    [identifier],
  );
  return rows[0]?.userId;
}

const ORGANIZATION = `SELECT o.id, o.name, o.requires_two_factor FROM beckon.team_organization o`;

export async function findOrganizationOf(
  tx: Tx,
  projectId: number,
): Promise<OrganizationDetails | undefined> {
  const rows = await tx.query<OrganizationDetails>(
    `${ORGANIZATION} JOIN beckon.project p ON p.organization_id = o.id WHERE p.project_id = $1`,
    [projectId],
  );
  return rows[0];
}

/** Returns the organizations, oldest first. */
export function listOrganizations(tx: Pick<Tx, 'query'>): Promise<OrganizationDetails[]> {
  return tx.query(`${ORGANIZATION} ORDER BY o.created_at, o.id`);
}

export function listProjectsOf(tx: Tx, organizationId: string): Promise<{ id: number; name: string }[]> {
  return tx.query(
    `SELECT project_id AS id, name FROM beckon.project WHERE organization_id = $1 ORDER BY project_id`,
    [organizationId],
  );
}

export async function hasProject(tx: Pick<Tx, 'query'>, projectId: number): Promise<boolean> {
  const rows = await tx.query('SELECT 1 FROM beckon.project WHERE project_id = $1', [projectId]);
  return rows.length > 0;
}

export async function listAllProjectIds(tx: Pick<Tx, 'query'>): Promise<number[]> {
  const text = 'SELECT project_id AS id FROM beckon.project ORDER BY project_id';
  const rows = await tx.query<{ id: number }>(text);
  return rows.map(({ id }) => id);
}

/** A member as every member sees them. */
export type MemberRow = Omit<MemberListed, 'is_you'>;

export function listMembers(tx: Tx, organizationId: string): Promise<MemberRow[]> {
  return readAs(
    tx,
    `SELECT u.id, u.name, u.email, m.role, u.two_factor_enabled IS TRUE AS two_factor, m.created_at AS joined_at,
            (SELECT max(s.updated_at) FROM beckon.team_session s WHERE s.user_id = u.id) AS last_seen_at
     FROM beckon.team_member m JOIN beckon.team_user u ON u.id = m.user_id
     WHERE m.organization_id = $1 ORDER BY m.created_at, u.id`,
    [organizationId],
  );
}

/** Returns the addresses of members who get the digest email of this project. */
export async function listDigestAddresses(tx: Tx, projectId: number): Promise<string[]> {
  const rows = await tx.query<{ email: string }>(
    `SELECT u.email FROM beckon.project p JOIN beckon.team_member m ON m.organization_id = p.organization_id
     JOIN beckon.team_user u ON u.id = m.user_id
     WHERE p.project_id = $1 AND ${WANTS_DIGEST} ORDER BY m.created_at, u.id`,
    [projectId],
  );
  return rows.map(({ email }) => email);
}

/** Returns the project under which an email to this member is filed, or undefined if they have none. */
export async function findProjectOfMember(tx: Tx, memberId: string): Promise<number | undefined> {
  const rows = await tx.query<{ id: number }>(
    `SELECT p.project_id AS id FROM beckon.team_member m JOIN beckon.project p ON p.organization_id = m.organization_id
     WHERE m.user_id = $1 ORDER BY m.created_at, p.project_id LIMIT 1`,
    [memberId],
  );
  return rows[0]?.id;
}

export function listSessions(
  tx: Tx,
  { id, sessionId }: Pick<SignedInMember, 'id' | 'sessionId'>,
): Promise<SessionListed[]> {
  return readAs(
    tx,
    `SELECT id, user_agent, ip_address AS address, created_at, updated_at AS last_seen_at, expires_at, id = $2 AS current
     FROM beckon.team_session WHERE user_id = $1 AND expires_at > now() ORDER BY updated_at DESC, id`,
    [id, sessionId],
  );
}

export function listPasskeys(tx: Tx, memberId: string): Promise<PasskeyListed[]> {
  return readAs(
    tx,
    `SELECT id, coalesce(name, 'Passkey') AS name, coalesce(created_at, now()) AS created_at
     FROM beckon.team_passkey WHERE user_id = $1 ORDER BY created_at, id`,
    [memberId],
  );
}

export type CredentialRow = {
  id: string;
  userId: string;
  credentialId: string;
  publicKey: string;
  counter: number;
  transports: string | null;
};

const CREDENTIAL = `SELECT id, user_id AS "userId", credential_id AS "credentialId", public_key AS "publicKey", counter,
  transports FROM beckon.team_passkey`;

export function listCredentials(tx: Tx, memberId: string): Promise<CredentialRow[]> {
  return tx.query(`${CREDENTIAL} WHERE user_id = $1 ORDER BY created_at, id`, [memberId]);
}

export async function findCredential(tx: Tx, credentialId: string): Promise<CredentialRow | undefined> {
  return (await tx.query<CredentialRow>(`${CREDENTIAL} WHERE credential_id = $1`, [credentialId]))[0];
}

export type FactorRow = { id: string; secret: string; backupCodes: string };

/** Returns the encrypted values of all members' authenticator apps, in the order of their ids. */
export function listFactors(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
): Promise<FactorRow[]> {
  return tx.query(
    `SELECT id, secret, backup_codes AS "backupCodes" FROM beckon.team_two_factor WHERE id > $1 ORDER BY id LIMIT $2`,
    [after, limit],
  );
}
