import type { Tx } from '../../../platform/db/statements.ts';
import { type BuriedRow, listBuriedRows, listNotedRows, type NotedRow } from './reads.ts';

type Person = { projectId: number; userId: string };

/** Sorts before every id and every time. */
const FIRST = { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Lists all records of the event stream about a user page by page, oldest first. */
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

/** Lists the dead-lettered records about a user page by page. */
export async function* listDeadLettersOf(
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
