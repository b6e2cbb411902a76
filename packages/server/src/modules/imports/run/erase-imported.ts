import { deleteCustomersOf } from '../billing/store.ts';
import { blankParts } from '../blank-rows.ts';
import { type FindingKey, listFindingsWith, listOpenImports } from '../reads.ts';
import { type ErasedPerson, isNaming, isRowOf, plainRuns } from '../row-owner.ts';
import { deleteFindingsAt, type ImportRef, insertErased, lockImport } from '../store.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
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
    const job = await lockImport(tx, { projectId, id });
    if (!job) continue;
    await insertErased(tx, job, Buffer.from(userHash(job, userId), 'hex'));
    rows += await blankParts(tx, job, person);
  }
  const address = email === null ? null : email.toLowerCase();
  rows += await deleteCustomersOf(tx, { projectId, userId, address });
  return rows + (await deleteFindingsOf(tx, { projectId, person }));
}

/** Hashes a user's id for an import that has not ended, so that the id itself is not stored. */
export function userHash({ id }: Pick<ImportRef, 'id'>, userId: string): string {
  return sha256(`${id} ${userId}`);
}

const PAGE_ROWS = 1_000;
/** A finding stores only the start of a CSV row, without the header, so its columns are unknown. */
const NO_COLUMNS = { delimiter: null, columns: [] };

/** Deletes the findings about this user or with their name in it, and returns the number. */
async function deleteFindingsOf(
  tx: Tx,
  { projectId, person }: { projectId: number; person: ErasedPerson },
): Promise<number> {
  const isNamedIn = isNaming(person, { words: true });
  let count = 0;
  let after: FindingKey | null = null;
  for (;;) {
    const rows = await listFindingsWith(tx, {
      projectId,
      texts: plainRuns(person),
      after,
      limit: PAGE_ROWS,
    });
    const theirs = rows.filter(({ importKind, mapping, raw, message }) => {
      const kind = importKind === 'events' ? 'events' : 'users';
      return isNamedIn(message) || isRowOf(person, { kind, mapping }, NO_COLUMNS)(raw);
    });
    await deleteFindingsAt(tx, { projectId, keys: theirs });
    count += theirs.length;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) return count;
    after = { importId: last.importId, n: last.n };
  }
}
