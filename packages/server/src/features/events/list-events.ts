import type { Tx } from '../../io/db/index.ts';
import { type EventOfPersonRow, listEventsBehind, listNewestEvents } from './reads.ts';

type Person = { projectId: number; userId: string };
export type EventOfPerson = EventOfPersonRow;

/** What a person did last, by the time at which it happened; `by`: of what had been accepted by then. */
export function listNewest(
  tx: Tx,
  wanted: Person & { limit: number; by?: number },
): Promise<EventOfPerson[]> {
  return listNewestEvents(tx, wanted);
}

/** Every name has a character, so this comes before the first. */
const START = { name: '', occurred_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** All that a person did, page by page, by name and within a name by time. */
export async function* listAll(
  tx: Tx,
  { projectId, userId, pageOf }: Person & { pageOf: number },
): AsyncGenerator<EventOfPerson[], void, void> {
  let after: typeof START | undefined = START;
  while (after) {
    const page: EventOfPerson[] = await listEventsBehind(tx, { projectId, userId, after, limit: pageOf });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  }
}
