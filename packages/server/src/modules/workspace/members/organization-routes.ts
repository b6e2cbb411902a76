import { randomUUID } from 'node:crypto';
import { routesFor } from '../dashboard-api/route.ts';
import { wholeList } from '../dashboard-api/pages.ts';
import { isLocalShell } from './local-shell.ts';
import { readName } from './make-person.ts';
import { requireOperator } from './installation.ts';
import { insertOrganization, upsertMember } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';

const { route } = routesFor();

export const organizationRoutes = [
  route('GET /organizations', {
    needs: 'signed_in',
    scope: 'read',
    handle: async ({ access }, { member }) => wholeList(await access.organizationsOf(member.id)),
  }),
  route('POST /organizations', {
    needs: 'signed_in',
    scope: 'admin',
    audit: 'organization.create',
    async handle({ db, access }, { member, body, note }) {
      await requireOperator({ db, access }, member, 'create organizations');
      const ownerId = isLocalShell(member) ? null : member.id;
      const { id, name } = await createOrganization(db, { name: body.name, ownerId });
      note({ organizationId: id, subject: name });
      const made = (await access.organizationsOf(member.id)).find((candidate) => candidate.id === id);
      if (!made) throw new Error('the new organization is not listed for its owner');
      return { data: made };
    },
  }),
];

/** Creates an organization. `ownerId`: the member who becomes its owner; null: it has no member until someone is invited. */
function createOrganization(
  db: Pick<Database, 'transaction' | 'clock'>,
  input: { name: string; ownerId: string | null },
): Promise<{ id: string; name: string }> {
  const [id, name, at] = [randomUUID(), readName(input.name), new Date(db.clock.now())];
  return db.transaction(async (tx) => {
    await insertOrganization(tx, { id, name, createdAt: at });
    if (input.ownerId !== null)
      await upsertMember(tx, { organizationId: id, userId: input.ownerId, role: 'owner', at });
    return { id, name };
  });
}
