import { sha256 } from '../../platform/crypto/hash.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type FindingPlace, listFindingsWith } from './reads.ts';
import { deleteFindingsAt, type ImportRef } from './store.ts';
import { type ErasedPerson, isNaming, isRowOf, plainRuns } from './row-owner.ts';

/** Hashes a user's id for an import that has not ended, so that the id itself is not stored. */
export function personHash({ id }: Pick<ImportRef, 'id'>, userId: string): string {
  return sha256(`${id} ${userId}`);
}

const PAGE_ROWS = 1_000;
/** A finding stores only the start of a CSV row, without the header, so its columns are unknown. */
const NO_COLUMNS = { delimiter: null, columns: [] };

/** Deletes the findings about this user or with their name in it, and returns the number. */
export async function deleteFindingsOf(
  tx: Tx,
  { projectId, person }: { projectId: number; person: ErasedPerson },
): Promise<number> {
  const isToldIn = isNaming(person, { words: true });
  let count = 0;
  let after: FindingPlace | null = null;
  for (;;) {
    const rows = await listFindingsWith(tx, {
      projectId,
      texts: plainRuns(person),
      after,
      limit: PAGE_ROWS,
    });
    const theirs = rows.filter(({ importKind, mapping, raw, message }) => {
      const kind = importKind === 'events' ? 'events' : 'users';
      return isToldIn(message) || isRowOf(person, { kind, mapping }, NO_COLUMNS)(raw);
    });
    await deleteFindingsAt(tx, { projectId, places: theirs });
    count += theirs.length;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) return count;
    after = { importId: last.importId, n: last.n };
  }
}
