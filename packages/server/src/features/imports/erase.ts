import { sha256 } from '../../base/hash.ts';
import type { Tx } from '../../io/db/index.ts';
import { type FindingPlace, listFindingsWith } from './reads.ts';
import { deleteFindingsAt, type ImportRef } from './store.ts';
import { type ErasedPerson, isNaming, isRowOf, plainRuns } from './whose-row.ts';

/** A person's id in an import that has not ended, so that nobody reads the id itself. */
export function personHash({ id }: Pick<ImportRef, 'id'>, userId: string): string {
  return sha256(`${id} ${userId}`);
}

const PAGE_ROWS = 1_000;
/** Of a row of CSV there is its beginning alone, and no header any more: it has no columns that could be known. */
const NO_COLUMNS = { delimiter: null, columns: [] };

/** What was found of this person, or names them; says how many. */
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
