import type { OrganizationDetails } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { idMaker } from '../../../platform/ids.ts';
import { addEntry } from '../audit/store.ts';
import { findUserByEmail, listMemberships, listOrganizations } from './reads.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type LinkOffer, offerInvite, offerReset, offerSetup } from './links.ts';

type Db = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
const OPERATOR = 'operator';

export type AccessReset = {
  /** The account; undefined: the first owner of a new installation. */
  email: string | undefined;
  /** Makes the account an owner of the first organization, and creates it if it does not exist. */
  asOwner: boolean;
  /** Removes the authenticator app, which an owner-to-be loses in any case. */
  clearsTwoFactor: boolean;
};

/** Creates the link by which the operator of the host lets a member in, so that an installation is never locked for good. */
export async function resetAccess(db: Db, publicUrl: string, reset: AccessReset): Promise<LinkOffer> {
  const { email, asOwner, clearsTwoFactor } = reset;
  if (email === undefined) return offerFirstAccount(db, publicUrl);
  if (asOwner) return offerOwnership(db, publicUrl, email);
  const offered = await offerReset(db, publicUrl, { email, by: OPERATOR, clearsTwoFactor });
  if (!offered) throw conflict(`${email} is not a member. Pass --owner to make this account an owner`);
  const user = await findUserByEmail(db, email);
  await record(db, user ? await listMemberships(db, user.id) : [], {
    action: 'password.reset_link',
    subject: email,
    after: { clearsTwoFactor },
  });
  return offered;
}

async function offerFirstAccount(db: Db, publicUrl: string): Promise<LinkOffer> {
  const offered = await offerSetup(db, publicUrl);
  if (offered) return offered;
  throw conflict('This installation already has an owner. Pass the email address of the member');
}

async function offerOwnership(db: Db, publicUrl: string, email: string): Promise<LinkOffer> {
  const [organization] = await listOrganizations(db);
  if (!organization)
    throw conflict('No organization exists yet. Run the command without an email address for the setup link');
  const membership = { organizationId: organization.id, role: 'owner' as const };
  const user = await findUserByEmail(db, email);
  const offered = user?.hasAccount
    ? await offerReset(db, publicUrl, { email, by: OPERATOR, membership, clearsTwoFactor: true })
    : await offerInvite(db, publicUrl, { ...membership, email, by: OPERATOR, byRole: 'owner' });
  if (!offered) throw conflict(`${email} cannot be made an owner`);
  await record(db, [organization], { action: 'team.recover', subject: email, after: { role: 'owner' } });
  return offered;
}

type Entry = { action: string; subject: string; after: unknown };

/** Writes to the audit log of these organizations. */
async function record(
  db: Db,
  organizations: Pick<OrganizationDetails, 'id'>[],
  { action, ...entry }: Entry,
): Promise<void> {
  const organizationIds = organizations.map(({ id }) => id);
  const at = new Date(db.clock.now());
  const by = { actor: OPERATOR, actorName: 'Operator', token: null };
  await addEntry(db, {
    projectId: 0,
    organizationIds,
    id: idMaker(db.clock)(),
    at,
    ...by,
    action,
    ...entry,
  });
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message }] });
}
