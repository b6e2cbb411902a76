import type { Role } from '@beckon/contract/dashboard';
import { Fault } from '../../base/fault.ts';
import { idMaker } from '../../base/ids.ts';
import { addEntry } from '../../features/audit/index.ts';
import {
  changeRole,
  findUserByEmail,
  listMembers,
  listMemberships,
  listOrganizations,
  type MemberRow,
  type Organization,
  removeMember,
} from '../../features/team/index.ts';
import type { Database } from '../../io/db/index.ts';
import { offerInvite, type Offered, offerReset, offerSetup } from './offer-link.ts';

type Db = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
const OPERATOR = 'operator';

/** By its name or id; the oldest where none is named. */
export async function requireOrganization(db: Db, wanted?: string): Promise<Organization> {
  const all = await listOrganizations(db);
  const named =
    wanted === undefined ? all.slice(0, 1) : all.filter(({ id, name }) => id === wanted || name === wanted);
  if (named.length === 1 && named[0]) return named[0];
  throw conflict(
    all.length === 0
      ? 'There is no organization yet: team setup-link leads to the first'
      : `${wanted} is no organization: there are ${all.map(({ name }) => name).join(', ')}`,
  );
}

/** Whoever owns the machine gets in: as the first owner, or as one more where nobody of them can. */
export async function offerOwnership(db: Db, publicUrl: string, owner?: string): Promise<Offered> {
  if (owner === undefined) {
    const offered = await offerSetup(db, publicUrl);
    if (offered) return offered;
    throw conflict(
      'This installation has an owner: team invite and team reset-link let people in, and --owner makes one more',
    );
  }
  const organization = await requireOrganization(db);
  const membership = { organizationId: organization.id, role: 'owner' as const };
  const known = await findUserByEmail(db, owner);
  const offered = known?.hasAccount
    ? await offerReset(db, publicUrl, { email: owner, by: OPERATOR, membership, clearsTwoFactor: true })
    : await offerInvite(db, publicUrl, { ...membership, email: owner, by: OPERATOR, byRole: 'owner' });
  if (!offered) throw conflict(`${owner} is not known`);
  await record(db, [organization], { action: 'team.recover', subject: owner, after: { role: 'owner' } });
  return offered;
}

type Inviting = { email: string; role: Role; organization?: string };

export async function inviteByOperator(
  db: Db,
  publicUrl: string,
  { email, role, organization: wanted }: Inviting,
): Promise<Offered> {
  const organization = await requireOrganization(db, wanted);
  const inviting = { organizationId: organization.id, email, role, by: OPERATOR, byRole: 'owner' as const };
  const offered = await offerInvite(db, publicUrl, inviting);
  await record(db, [organization], { action: 'invite.send', subject: email, after: { role } });
  return offered;
}

export async function resetByOperator(
  db: Db,
  publicUrl: string,
  { email, clearsTwoFactor }: { email: string; clearsTwoFactor: boolean },
): Promise<Offered> {
  const offered = await offerReset(db, publicUrl, { email, by: OPERATOR, clearsTwoFactor });
  if (!offered) throw conflict(`${email} is nobody who can sign in: team list shows who can`);
  const known = await findUserByEmail(db, email);
  await record(db, known ? await listMemberships(db, known.id) : [], {
    action: 'password.reset_link',
    subject: email,
    after: { clearsTwoFactor },
  });
  return offered;
}

export type Meant = { email: string; organization?: string };

export async function setRoleByOperator(
  db: Db,
  { email, organization: wanted, role }: Meant & { role: Role },
): Promise<MemberRow> {
  const { organization, member } = await requireMember(db, {
    email,
    ...(wanted ? { organization: wanted } : {}),
  });
  const change = { organizationId: organization.id, userId: member.id, by: 'owner' as const, role };
  const at = new Date(db.clock.now());
  const { before, after } = await db.transaction((tx) => changeRole(tx, { ...change, at }));
  const difference = { before: { role: before.role }, after: { role } };
  await record(db, [organization], { action: 'member.change_role', subject: email, ...difference });
  return after;
}

export async function removeByOperator(db: Db, meant: Meant): Promise<MemberRow> {
  const { organization, member } = await requireMember(db, meant);
  const change = { organizationId: organization.id, userId: member.id, by: 'owner' as const };
  const was = await db.transaction((tx) => removeMember(tx, change));
  await record(db, [organization], {
    action: 'member.remove',
    subject: was.email,
    before: { role: was.role },
  });
  return was;
}

async function requireMember(
  db: Db,
  { email, organization: wanted }: Meant,
): Promise<{ organization: Organization; member: MemberRow }> {
  const organization = await requireOrganization(db, wanted);
  const member = (await listMembers(db, organization.id)).find((one) => one.email === email);
  if (!member) throw conflict(`${email} is no member of ${organization.name}: team list shows who is`);
  return { organization, member };
}

type Recorded = { action: string; subject: string; before?: unknown; after?: unknown };

/** Where the admins of those organizations find it that it concerns. */
async function record(
  db: Db,
  organizations: Pick<Organization, 'id'>[],
  { action, ...what }: Recorded,
): Promise<void> {
  const organizationIds = organizations.map(({ id }) => id);
  const at = new Date(db.clock.now());
  const by = { actor: OPERATOR, actorName: 'Operator', token: null };
  const entry = { projectId: 0, organizationIds, id: idMaker(db.clock)(), at, ...by, action };
  await addEntry(db, { ...entry, ...what });
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message }] });
}
