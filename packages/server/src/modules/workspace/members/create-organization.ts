import { randomUUID } from 'node:crypto';
import { insertOrganization, upsertMember } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { readName } from './make-person.ts';

/** Creates an organization. `ownerId`: the member who becomes its owner; null: it has no member until someone is invited. */
export function createOrganization(
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
