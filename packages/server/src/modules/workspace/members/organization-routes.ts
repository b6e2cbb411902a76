import { Type } from 'typebox';
import type { OrganizationListed } from '@beckon/contract/dashboard';
import { isLocalShell } from './local-shell.ts';
import type { OrganizationOfMember } from './team.ts';
import { createOrganization } from './create-organization.ts';
import { requireOperator } from './require-operator.ts';
import { routesFor } from '../dashboard-api/route.ts';
import { wholeList } from '../dashboard-api/whole-list.ts';

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
