import type { Role } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { deleteChallenges, deleteTwoFactor, lockOrganization, upsertMember } from './store.ts';
import { deletePasskeys, deleteSessions } from './auth-store.ts';
import { findUserByEmail, listMembers, listOrganizations, type UserRow } from './reads.ts';
import type { SingleUseLink } from './link.ts';
import { lookAtLink, takeLink } from './links.ts';
import type { SignedInMember } from './team.ts';
import { revokeTokensOf } from '../tokens/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { upsertAccount } from './make-person.ts';

export type LinkView = SingleUseLink & { organization: string | null; hasAccount: boolean };

/** Returns what the holder of a link sees before they decide. */
export async function lookAt(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  token: string,
): Promise<LinkView> {
  const link = await lookAtLink(db, token, db.clock.now());
  const organization =
    (await listOrganizations(db)).find(({ id }) => id === link.organizationId)?.name ?? null;
  const user = link.email === null ? undefined : await findUserByEmail(db, link.email);
  return { ...link, organization, hasAccount: user?.hasAccount ?? false };
}

type Deps = Pick<Database, 'transaction' | 'clock'>;
export type AcceptInput = {
  token: string;
  /** The signed-in member; null: a new one, with a name and a password. */
  member: SignedInMember | null;
  newcomer: { name: string; passwordHash: string } | null;
};
export type JoinResult = {
  memberId: string;
  name: string;
  email: string;
  organizationId: string;
  organization: string;
  role: Role;
};

/** Runs in the transaction of the change. */
type AfterChange<T> = (tx: Tx, result: T) => Promise<void>;

export function acceptInvite(
  db: Deps,
  { token, member, newcomer }: AcceptInput,
  record: AfterChange<JoinResult>,
): Promise<JoinResult> {
  return db.transaction(async (tx) => {
    const at = new Date(db.clock.now());
    const link = await takeLink(tx, { token, kind: 'invite' }, at.getTime());
    const { email, organizationId, role } = link;
    if (email === null || organizationId === null || role === null)
      throw new Error('an invitation without an organization');
    const organization = await lockOrganization(tx, organizationId);
    if (!organization) throw new Fault('not_found');
    const user = await findUserByEmail(tx, email);
    const account = user?.hasAccount
      ? requireSelf(user, member)
      : await createAccount(tx, { email, newcomer, at });
    const before = (await listMembers(tx, organizationId)).find(({ id }) => id === account.id);
    // An invitation creates a member. Only the team changes the role of an existing member.
    if (!before) await upsertMember(tx, { organizationId, userId: account.id, role, at });
    const joined = {
      memberId: account.id,
      name: account.name,
      email,
      organizationId,
      organization: organization.name,
      role: before?.role ?? role,
    };
    await record(tx, joined);
    return joined;
  });
}

function requireSelf(
  user: { id: string; name: string; email: string },
  member: SignedInMember | null,
): { id: string; name: string } {
  if (member?.id === user.id) return user;
  const message =
    member === null
      ? `${user.email} already has an account. Sign in with it, then open the invitation again`
      : `This invitation is for ${user.email}, and you are signed in as ${member.email}`;
  throw new Fault('conflict', { details: [{ message }] });
}

type NewAccountInput = { email: string; newcomer: AcceptInput['newcomer']; at: Date };

async function createAccount(
  tx: Tx,
  { email, newcomer, at }: NewAccountInput,
): Promise<{ id: string; name: string }> {
  if (newcomer === null) {
    const message = 'password is required to create an account';
    throw new Fault('validation_failed', { details: [{ message, field: 'password' }] });
  }
  return { id: await upsertAccount(tx, { ...newcomer, email }, at), name: newcomer.name };
}

/**
 * The new password ends every session, passkey and token: someone who was in the account before may have made them. The
 * authenticator app stays, unless the operator says that it is lost.
 */
export function resetPassword(
  db: Deps,
  { token, passwordHash }: { token: string; passwordHash: string },
  record: AfterChange<UserRow>,
): Promise<{ member: UserRow; endsTwoFactor: boolean }> {
  return db.transaction(async (tx) => {
    const at = new Date(db.clock.now());
    const link = await takeLink(tx, { token, kind: 'reset' }, at.getTime());
    const user = link.email === null ? undefined : await findUserByEmail(tx, link.email);
    if (!user) throw new Fault('not_found');
    await upsertAccount(tx, { name: user.name, email: user.email, passwordHash }, at);
    await deleteSessions(tx, { userId: user.id });
    await deleteChallenges(tx, user.id);
    await deletePasskeys(tx, user.id);
    await revokeTokensOf(tx, { userId: user.id, at });
    if (link.clearsTwoFactor) await deleteTwoFactor(tx, user.id);
    if (link.organizationId !== null && link.role !== null)
      await upsertMember(tx, { organizationId: link.organizationId, userId: user.id, role: link.role, at });
    await record(tx, user);
    return { member: user, endsTwoFactor: link.clearsTwoFactor };
  });
}
