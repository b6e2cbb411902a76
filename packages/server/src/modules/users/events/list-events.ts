import type { Tx } from '../../../platform/db/statements.ts';
import { type EventOfPersonRow, listEventsBehind, listNewestEvents } from './reads.ts';

type Person = { projectId: number; userId: string };
export type EventOfPerson = EventOfPersonRow;

/** Lists the newest events of a user by the time they occurred. `by` limits it to events accepted by then. */
export function listNewest(
  tx: Tx,
  wanted: Person & { limit: number; by?: number },
): Promise<EventOfPerson[]> {
  return listNewestEvents(tx, wanted);
}

/** Every name has at least one character, so this sorts before the first. */
const START = { name: '', occurred_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Lists all events of a user page by page, by name and then by time. */
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
