import { randomUUID } from 'node:crypto';
import { adoptEntries } from '../audit/store.ts';
import { takeLink } from './links.ts';
import { type NewAccount, upsertAccount } from './make-person.ts';
import { isSetUp } from './reads.ts';
import { insertOrganization, lockOrganizations, upsertMember } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

type FirstOrganization = { token: string; person: NewAccount; organization: string };

/** Creates the first member of an installation and their organization, with the link that was offered for it. */
export async function setUpOrganization(
  tx: Tx,
  { token, person, organization }: FirstOrganization,
  now: number,
): Promise<{ personId: string; organizationId: string }> {
  await lockOrganizations(tx);
  await takeLink(tx, { token, kind: 'setup' }, now);
  if (await isSetUp(tx)) {
    const message = 'This installation is already set up. Sign in, or ask its owner for an invitation';
    throw new Fault('conflict', { details: [{ message }] });
  }
  const [organizationId, at] = [randomUUID(), new Date(now)];
  await insertOrganization(tx, { id: organizationId, name: organization, createdAt: at });
  const personId = await upsertAccount(tx, person, at);
  await upsertMember(tx, { organizationId, userId: personId, role: 'owner', at });
  await adoptEntries(tx, organizationId);
  return { personId, organizationId };
}
