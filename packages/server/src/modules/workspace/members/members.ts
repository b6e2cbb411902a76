import { allows, type Role } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { listMembers, type MemberRow } from './reads.ts';
import {
  deleteInvitesBy,
  deleteLinksTo,
  deleteMember,
  deleteWaysIn,
  lockOrganization,
  upsertMember,
} from './store.ts';

/** A change of a member. `by` is the role of the caller. An operator on the server itself may do what an owner may. */
export type MemberChange = { organizationId: string; userId: string; by: Role };

export async function changeRole(
  tx: Tx,
  change: MemberChange & { role: Role; at: Date },
): Promise<{ before: MemberRow; after: MemberRow }> {
  const before = await mayChange(tx, { ...change, to: change.role });
  const { organizationId, userId, role, at } = change;
  await upsertMember(tx, { organizationId, userId, role, at });
  // Open invitations must not grant more than their author may still grant.
  if (role !== 'owner')
    await deleteInvitesBy(tx, {
      organizationId,
      createdBy: `team:${userId}`,
      ownersOnly: allows(role, 'admin'),
    });
  return { before, after: { ...before, role } };
}

/**
 * Removes a member. It takes effect immediately: their next request is refused, whatever its credentials. Invitations to them and by them
 * are void too.
 */
export async function removeMember(tx: Tx, change: MemberChange): Promise<MemberRow> {
  const before = await mayChange(tx, { ...change, to: null });
  const { organizationId, userId } = change;
  const still = await deleteMember(tx, { organizationId, userId });
  await deleteLinksTo(tx, { email: before.email, kind: 'invite', organizationId });
  await deleteInvitesBy(tx, { organizationId, createdBy: `team:${userId}`, ownersOnly: false });
  if (still === 0) {
    await deleteLinksTo(tx, { email: before.email, kind: 'reset', organizationId: null });
    await deleteWaysIn(tx, userId);
  }
  return before;
}

async function mayChange(
  tx: Tx,
  { organizationId, userId, by, to }: MemberChange & { to: Role | null },
): Promise<MemberRow> {
  await lockOrganization(tx, organizationId);
  const members = await listMembers(tx, organizationId);
  const member = members.find(({ id }) => id === userId);
  if (!member) throw new Fault('not_found');
  const ownersLeft = members.filter(({ id, role }) => role === 'owner' && id !== userId).length;
  const why = whyNot({ by, from: member.role, to }, ownersLeft);
  if (why === null) return member;
  const isForbidden = by !== 'owner';
  throw new Fault(isForbidden ? 'role_required' : 'conflict', { details: [{ message: why }] });
}

/** Only owners can change or appoint owners, and at least one owner remains. */
function whyNot(
  { by, from, to }: { by: Role; from: Role; to: Role | null },
  ownersLeft: number,
): string | null {
  if (by !== 'owner' && from === 'owner') return 'Only an owner can change an owner';
  if (by !== 'owner' && to === 'owner') return 'Only an owner can make another owner';
  if (from === 'owner' && to !== 'owner' && ownersLeft < 1)
    return 'This is the last owner. Make another member an owner first';
  return null;
}
