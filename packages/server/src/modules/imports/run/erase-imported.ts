import { deleteCustomersOf } from '../billing/store.ts';
import { blankParts } from '../blank-rows.ts';
import { deleteFindingsOf, personHash } from '../erase.ts';
import { insertErased, lockImport } from '../store.ts';
import { listOpenImports } from '../reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/**
 * Erases a user from all import data and returns the number of rows.
 *
 * Covers rejected rows, data read from Stripe, and files that are not imported yet: their rows of this user become blanks of the same
 * length. Rows that a worker holds in memory at this moment are left out by the hash of the user. Imports are locked before the project and
 * its queue row.
 */
export async function eraseImported(
  tx: Tx,
  { projectId, userId, email }: { projectId: number; userId: string; email: string | null },
): Promise<number> {
  const person = { userId, email };
  let rows = 0;
  for (const { id } of await listOpenImports(tx, projectId)) {
    const one = await lockImport(tx, { projectId, id });
    if (!one) continue;
    await insertErased(tx, one, Buffer.from(personHash(one, userId), 'hex'));
    rows += await blankParts(tx, one, person);
  }
  const address = email === null ? null : email.toLowerCase();
  rows += await deleteCustomersOf(tx, { projectId, userId, address });
  return rows + (await deleteFindingsOf(tx, { projectId, person }));
}
