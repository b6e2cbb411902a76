import type { OrganizationListed } from '@beckon/contract/dashboard';
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { routesFor } from '../dashboard-api/route.ts';
import { wholeList } from '../dashboard-api/pages.ts';
import { isLocalShell } from './local-shell.ts';
import { readName } from './make-person.ts';
import { requireOperator } from './installation.ts';
import { insertOrganization, upsertMember } from './store.ts';
import type { OrganizationOfMember } from './team.ts';
import type { Database } from '../../../platform/db/database.ts';

const { route } = routesFor();

export const organizationRoutes = [
  route('GET /organizations', {
    needs: 'signed_in',
    scope: 'read',
    handle: async ({ access }, { person }) =>
      wholeList((await access.organizationsOf(person.id)).map(toListed)),
  }),
  route('POST /organizations', {
    needs: 'signed_in',
    scope: 'admin',
    audit: 'organization.create',
    body: Type.Object({ name: Type.String({ maxLength: 1_000 }) }),
    async handle({ db, access }, { person, body, note }) {
      await requireOperator({ db, access }, person, 'create organizations');
      const ownerId = isLocalShell(person) ? null : person.id;
      const { id, name } = await createOrganization(db, { name: body.name, ownerId });
      note({ organizationId: id, subject: name });
      const made = (await access.organizationsOf(person.id)).find((one) => one.id === id);
      if (!made) throw new Error('the new organization is not listed for its owner');
      return { data: toListed(made) };
    },
  }),
];

function toListed(row: OrganizationOfMember): OrganizationListed {
  const { id, name, role, requiresTwoFactor, projects, members } = row;
  return { id, name, role, requires_two_factor: requiresTwoFactor, projects, members };
}

/** Creates an organization. `ownerId`: the member who becomes its owner; null: it has no member until someone is invited. */
function createOrganization(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: { name: string; ownerId: string | null },
): Promise<{ id: string; name: string }> {
  const [id, name, at] = [randomUUID(), readName(wanted.name), new Date(db.clock.now())];
  return db.transaction(async (tx) => {
    await insertOrganization(tx, { id, name, createdAt: at });
    if (wanted.ownerId !== null)
      await upsertMember(tx, { organizationId: id, userId: wanted.ownerId, role: 'owner', at });
    return { id, name };
  });
}
