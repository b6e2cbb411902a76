import type { Tx } from '../../io/db/index.ts';
import { type BuriedRow, listBuriedRows, listNotedRows, type NotedRow } from './reads.ts';

type Person = { projectId: number; userId: string };

/** Before every id and every moment. */
const FIRST = { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** All that the stream's records say of a person, page by page, the oldest first. */
export async function* listNoted(
  tx: Tx,
  { projectId, userId, pageOf }: Person & { pageOf: number },
): AsyncGenerator<NotedRow[], void, void> {
  let after: Pick<NotedRow, 'at' | 'id'> | undefined = FIRST;
  while (after) {
    const page: NotedRow[] = await listNotedRows(tx, { projectId, userId, after, limit: pageOf });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  }
}

/** The records about a person that could not be applied, page by page. */
export async function* listBuried(
  tx: Tx,
  { projectId, userId, pageOf }: Person & { pageOf: number },
): AsyncGenerator<BuriedRow[], void, void> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: BuriedRow[] = await listBuriedRows(tx, { projectId, userId, after, limit: pageOf });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.seq;
  }
}
