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
import { makePerson } from './make-person.ts';

export type LinkView = SingleUseLink & { organization: string | null; hasAccount: boolean };

/** Returns what the holder of a link sees before they decide. */
export async function lookAt(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  token: string,
): Promise<LinkView> {
  const link = await lookAtLink(db, token, db.clock.now());
  const organization =
    (await listOrganizations(db)).find(({ id }) => id === link.organizationId)?.name ?? null;
  const known = link.email === null ? undefined : await findUserByEmail(db, link.email);
  return { ...link, organization, hasAccount: known?.hasAccount ?? false };
}

type Deps = Pick<Database, 'transaction' | 'clock'>;
export type Accepting = {
  token: string;
  /** The signed-in member; null: a new one, with a name and a password. */
  person: SignedInMember | null;
  newcomer: { name: string; passwordHash: string } | null;
};
export type Joined = {
  personId: string;
  name: string;
  email: string;
  organizationId: string;
  organization: string;
  role: Role;
};

/** Runs in the transaction of the change. */
type Recorded<T> = (tx: Tx, done: T) => Promise<void>;

export function acceptInvite(
  db: Deps,
  { token, person, newcomer }: Accepting,
  recorded: Recorded<Joined>,
): Promise<Joined> {
  return db.transaction(async (tx) => {
    const at = new Date(db.clock.now());
    const link = await takeLink(tx, { token, kind: 'invite' }, at.getTime());
    const { email, organizationId, role } = link;
    if (email === null || organizationId === null || role === null)
      throw new Error('an invitation without an organization');
    const organization = await lockOrganization(tx, organizationId);
    if (!organization) throw new Fault('not_found');
    const known = await findUserByEmail(tx, email);
    const who = known?.hasAccount ? requireSelf(known, person) : await makeNew(tx, { email, newcomer, at });
    const before = (await listMembers(tx, organizationId)).find(({ id }) => id === who.id);
    // An invitation creates a member. Only the team changes the role of an existing member.
    if (!before) await upsertMember(tx, { organizationId, userId: who.id, role, at });
    const joined = {
      personId: who.id,
      name: who.name,
      email,
      organizationId,
      organization: organization.name,
      role: before?.role ?? role,
    };
    await recorded(tx, joined);
    return joined;
  });
}

function requireSelf(
  known: { id: string; name: string; email: string },
  person: SignedInMember | null,
): { id: string; name: string } {
  if (person?.id === known.id) return known;
  const message =
    person === null
      ? `${known.email} already has an account. Sign in with it, then open the invitation again`
      : `This invitation is for ${known.email}, and you are signed in as ${person.email}`;
  throw new Fault('conflict', { details: [{ message }] });
}

type New = { email: string; newcomer: Accepting['newcomer']; at: Date };

async function makeNew(tx: Tx, { email, newcomer, at }: New): Promise<{ id: string; name: string }> {
  if (newcomer === null) {
    const message = 'password is required to create an account';
    throw new Fault('validation_failed', { details: [{ message, field: 'password' }] });
  }
  return { id: await makePerson(tx, { ...newcomer, email }, at), name: newcomer.name };
}

/**
 * The new password ends every session, passkey and token: someone who was in the account before may have made them. The
 * authenticator app stays, unless the operator says that it is lost.
 */
export function resetPassword(
  db: Deps,
  { token, passwordHash }: { token: string; passwordHash: string },
  recorded: Recorded<UserRow>,
): Promise<{ member: UserRow; endsTwoFactor: boolean }> {
  return db.transaction(async (tx) => {
    const at = new Date(db.clock.now());
    const link = await takeLink(tx, { token, kind: 'reset' }, at.getTime());
    const known = link.email === null ? undefined : await findUserByEmail(tx, link.email);
    if (!known) throw new Fault('not_found');
    await makePerson(tx, { name: known.name, email: known.email, passwordHash }, at);
    await deleteSessions(tx, { userId: known.id });
    await deleteChallenges(tx, known.id);
    await deletePasskeys(tx, known.id);
    await revokeTokensOf(tx, { userId: known.id, at });
    if (link.clearsTwoFactor) await deleteTwoFactor(tx, known.id);
    if (link.organizationId !== null && link.role !== null)
      await upsertMember(tx, { organizationId: link.organizationId, userId: known.id, role: link.role, at });
    await recorded(tx, known);
    return { member: known, endsTwoFactor: link.clearsTwoFactor };
  });
}
