import { Type } from 'typebox';
import type { OrganizationListed } from '@beckon/contract/dashboard';
import { Fault } from '../../base/fault.ts';
import {
  isLocalShell,
  listOrganisations,
  type OrganisationOfMember,
  type Person,
} from '../../features/team/index.ts';
import { createOrganization } from '../../flows/team/index.ts';
import { route, type RouteDeps } from './route.ts';
import { wholeList } from './whole-list.ts';

export const organizationRoutes = [
  route('GET /organizations', {
    needs: 'signed_in',
    scope: 'read',
    handle: async ({ access }, { person }) =>
      wholeList((await access.organisationsOf(person.id)).map(toListed)),
  }),
  route('POST /organizations', {
    needs: 'signed_in',
    scope: 'admin',
    audit: 'organization.create',
    body: Type.Object({ name: Type.String({ maxLength: 1_000 }) }),
    async handle({ db, access }, { person, body, note }) {
      await requireOperator({ db, access }, person);
      const ownerId = isLocalShell(person) ? null : person.id;
      const { id, name } = await createOrganization(db, { name: body.name, ownerId });
      note({ organisationId: id, subject: name });
      const made = (await access.organisationsOf(person.id)).find((one) => one.id === id);
      if (!made) throw new Error('the new organization is not listed for its owner');
      return { data: toListed(made) };
    },
  }),
];

/**
 * An owner of the first organization, and the local shell, may act for the installation. Other organizations are tenants: one that could create further
 * organizations would not be bound by PROJECTS_PER_ORGANIZATION.
 */
async function requireOperator(
  { db, access }: Pick<RouteDeps, 'db' | 'access'>,
  person: Person,
): Promise<void> {
  if (isLocalShell(person)) return;
  const [first] = await listOrganisations(db);
  const own = (await access.organisationsOf(person.id)).find(({ id }) => id === first?.id);
  if (own?.role === 'owner') return;
  const message = "Only an owner of this installation's first organization can create organizations";
  throw new Fault('role_required', { details: [{ message }] });
}

function toListed(row: OrganisationOfMember): OrganizationListed {
  const { id, name, role, requiresTwoFactor, projects, members } = row;
  return { id, name, role, requires_two_factor: requiresTwoFactor, projects, members };
}
