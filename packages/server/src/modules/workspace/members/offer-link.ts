import { allows, type Role } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { findUserByEmail, isSetUp, listMembers, listMemberships } from './reads.ts';
import { type Link, urlOf } from './link.ts';
import { lockOrganization } from './store.ts';
import { makeLink } from './links.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
export type Offered = { url: string; link: Link };

/** Returns the setup link while the installation has no owner; null: it has one. */
export async function offerSetup(db: Deps, publicUrl: string): Promise<Offered | null> {
  if (await isSetUp(db)) return null;
  return inOne(db, (of) => offer(of, publicUrl, { kind: 'setup', madeBy: 'operator' }));
}

export type Inviting = { organizationId: string; email: string; role: Role; by: string; byRole: Role };

export async function offerInvite(
  db: Deps,
  publicUrl: string,
  { organizationId, email, role, by, byRole }: Inviting,
): Promise<Offered> {
  const wanted = { kind: 'invite', email, organizationId, role, madeBy: by } as const;
  return db.transaction(async (tx) => {
    // With this lock, a member who is being removed leaves no invitation behind.
    await lockOrganization(tx, organizationId);
    const members = await listMembers(tx, organizationId);
    const inviter = members.find(({ id }) => by === `team:${id}`);
    requireMayInvite(role, by.startsWith('team:') ? (inviter?.role ?? 'viewer') : byRole);
    const member = members.find((one) => one.email === email);
    if (member) {
      const message = `${member.name} (${email}) is already a member, as ${member.role}`;
      throw new Fault('conflict', { details: [{ message, field: 'email' }] });
    }
    return offer({ tx, now: db.clock.now() }, publicUrl, wanted);
  });
}

function requireMayInvite(role: Role, byRole: Role): void {
  const words = role === 'owner' && byRole !== 'owner' ? 'Only an owner can make another owner' : null;
  const message = words ?? (allows(byRole, 'admin') ? null : 'Only admins and owners can invite people');
  if (message !== null) throw new Fault('role_required', { details: [{ message }] });
}

export type Resetting = {
  email: string;
  by: string;
  clearsTwoFactor?: boolean;
  /** A membership that the link also grants, so that an owner who is locked out can come back. */
  membership?: { organizationId: string; role: Role };
};

/** Returns null if no account with this address can sign in. A person who requests the link by email does not learn that. */
export async function offerReset(db: Deps, publicUrl: string, resetting: Resetting): Promise<Offered | null> {
  const { email, by, clearsTwoFactor = false, membership } = resetting;
  const known = await findUserByEmail(db, email);
  if (!known) return null;
  if (!membership && (await listMemberships(db, known.id)).length === 0) return null;
  const wanted = { kind: 'reset', email, madeBy: by, clearsTwoFactor, ...membership } as const;
  return inOne(db, (of) => offer(of, publicUrl, wanted));
}

function inOne<T>(db: Deps, work: (of: { tx: Tx; now: number }) => Promise<T>): Promise<T> {
  return db.transaction((tx) => work({ tx, now: db.clock.now() }));
}

async function offer(
  { tx, now }: { tx: Tx; now: number },
  publicUrl: string,
  wanted: Parameters<typeof makeLink>[1],
): Promise<Offered> {
  const { token, link } = await makeLink(tx, wanted, now);
  return { url: urlOf(publicUrl, link.kind, token), link };
}
