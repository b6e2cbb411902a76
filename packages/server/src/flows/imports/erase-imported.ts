import { deleteCustomersOf } from '../../features/billing/index.ts';
import {
  blankParts,
  deleteFindingsOf,
  insertErased,
  listOpenImports,
  lockImport,
  personHash,
} from '../../features/imports/index.ts';
import type { Tx } from '../../io/db/index.ts';

/**
 * Takes a person out of what imports hold: out of the rows that were rejected, out of what was read of Stripe, and out of files that
 * are not imported yet, whose rows of this person become blanks of the same length. What a worker has in hand at this moment it leaves
 * out by the person's hash. Imports are locked before the project's turn and its queue row; says how many rows it were.
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
