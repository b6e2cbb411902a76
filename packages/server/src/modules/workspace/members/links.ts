import { allows, type Role } from '@beckon/contract/dashboard';
import { randomUUID } from 'node:crypto';
import { goodForMs, hashOf, type SingleUseLink, newToken, urlOf } from './link.ts';
import { findUserByEmail, isSetUp, listMembers, listMemberships } from './reads.ts';
import { deleteLinksTo, findLink, insertLink, lockOrganization, useLink } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
export type LinkOffer = { url: string; link: SingleUseLink };

/** Returns the setup link while the installation has no owner; null: it has one. */
export async function offerSetup(db: Deps, publicUrl: string): Promise<LinkOffer | null> {
  if (await isSetUp(db)) return null;
  return inTransaction(db, (of) => offer(of, publicUrl, { kind: 'setup', createdBy: 'operator' }));
}

type InviteInput = { organizationId: string; email: string; role: Role; by: string; byRole: Role };

export async function offerInvite(
  db: Deps,
  publicUrl: string,
  { organizationId, email, role, by, byRole }: InviteInput,
): Promise<LinkOffer> {
  const linkInput = { kind: 'invite', email, organizationId, role, createdBy: by } as const;
  return db.transaction(async (tx) => {
    // With this lock, a member who is being removed leaves no invitation behind.
    await lockOrganization(tx, organizationId);
    const members = await listMembers(tx, organizationId);
    const inviter = members.find(({ id }) => by === `team:${id}`);
    requireMayInvite(role, by.startsWith('team:') ? (inviter?.role ?? 'viewer') : byRole);
    const member = members.find((candidate) => candidate.email === email);
    if (member) {
      const message = `${member.name} (${email}) is already a member, as ${member.role}`;
      throw new Fault('conflict', { details: [{ message, field: 'email' }] });
    }
    return offer({ tx, now: db.clock.now() }, publicUrl, linkInput);
  });
}

function requireMayInvite(role: Role, byRole: Role): void {
  const words = role === 'owner' && byRole !== 'owner' ? 'Only an owner can make another owner' : null;
  const message = words ?? (allows(byRole, 'admin') ? null : 'Only admins and owners can invite people');
  if (message !== null) throw new Fault('role_required', { details: [{ message }] });
}

type ResetInput = {
  email: string;
  by: string;
  clearsTwoFactor?: boolean;
  /** A membership that the link also grants, so that an owner who is locked out can come back. */
  membership?: { organizationId: string; role: Role };
};

/** Returns null if no account with this address can sign in. A person who requests the link by email does not learn that. */
export async function offerReset(db: Deps, publicUrl: string, input: ResetInput): Promise<LinkOffer | null> {
  const { email, by, clearsTwoFactor = false, membership } = input;
  const user = await findUserByEmail(db, email);
  if (!user) return null;
  if (!membership && (await listMemberships(db, user.id)).length === 0) return null;
  const linkInput = { kind: 'reset', email, createdBy: by, clearsTwoFactor, ...membership } as const;
  return inTransaction(db, (of) => offer(of, publicUrl, linkInput));
}

function inTransaction<T>(db: Deps, work: (of: { tx: Tx; now: number }) => Promise<T>): Promise<T> {
  return db.transaction((tx) => work({ tx, now: db.clock.now() }));
}

async function offer(
  { tx, now }: { tx: Tx; now: number },
  publicUrl: string,
  input: Parameters<typeof makeLink>[1],
): Promise<LinkOffer> {
  const { token, link } = await makeLink(tx, input, now);
  return { url: urlOf(publicUrl, link.kind, token), link };
}

type LinkInput = Pick<SingleUseLink, 'kind' | 'createdBy'> &
  Partial<Pick<SingleUseLink, 'email' | 'organizationId' | 'role' | 'clearsTwoFactor'>>;

/** Creates a link. It invalidates older ones to the same person. */
export async function makeLink(
  tx: Tx,
  input: LinkInput,
  now: number,
): Promise<{ token: string; link: SingleUseLink }> {
  const { token, hash } = newToken();
  const link: SingleUseLink = {
    email: null,
    organizationId: null,
    role: null,
    clearsTwoFactor: false,
    ...input,
    id: randomUUID(),
    createdAt: new Date(now),
    expiresAt: new Date(now + goodForMs(input)),
  };
  await invalidateOlderLinks(tx, link);
  await insertLink(tx, hash, link);
  return { token, link };
}

export async function lookAtLink(tx: Tx, token: string, now: number): Promise<SingleUseLink> {
  return (await findLink(tx, hashOf(token), new Date(now))) ?? refuseLink();
}

/** Uses a link in the transaction of its action, so that it stays valid if the action fails. */
export async function takeLink(
  tx: Tx,
  { token, kind }: { token: string; kind: SingleUseLink['kind'] },
  now: number,
): Promise<SingleUseLink> {
  const link = await useLink(tx, hashOf(token), new Date(now));
  if (link?.kind !== kind) return refuseLink();
  await invalidateOlderLinks(tx, link);
  return link;
}

/** Anyone may request a new password by email, so such a request keeps links that an operator made. */
async function invalidateOlderLinks(
  tx: Tx,
  { email, kind, organizationId, createdBy }: SingleUseLink,
): Promise<void> {
  const sparesOperator = kind === 'reset' && createdBy !== 'operator';
  if (email !== null) await deleteLinksTo(tx, { email, kind, organizationId, sparesOperator });
}

function refuseLink(): never {
  const message = 'This link was already used, has expired, or was replaced by a newer one';
  throw new Fault('not_found', { details: [{ message, field: 'token' }] });
}
