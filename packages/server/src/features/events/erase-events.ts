import type { Tx } from '../../io/db/index.ts';
import {
  deleteCountsOf,
  deleteEventsBefore,
  deleteEventsOf,
  type EventPlace,
  type Forgetting,
  findEventStep,
  updateCountedFrom,
} from './forget-store.ts';

type Person = { projectId: number; userId: string };

/** No statement may take longer than a few seconds, and some people have millions of events. */
const STEP = 10_000;
/** Every name has a character, so this comes before the first. */
const START: EventPlace = { name: '', occurred_at: new Date(0) };

/**
 * All that a person did, in any month; with the project's turn taken. The keys by which copies are told stay: they are
 * hashes that lead back to nobody, and as long as they are there an erased history that is sent once more stays erased.
 */
export async function eraseEvents(tx: Tx, person: Person): Promise<{ event: number; person_event: number }> {
  let erased = 0;
  let after: EventPlace | undefined = START;
  while (after) {
    const upTo: EventPlace | undefined = await findEventStep(tx, { ...person, after, limit: STEP });
    erased += await deleteEventsOf(tx, { ...person, after, upTo });
    after = upTo;
  }
  return { event: erased, person_event: await deleteCountsOf(tx, person) };
}

/**
 * Where a name is being counted person by person, and this one was counted last: from now on `before` says how far it has
 * come, who stands right before them. True where that was so; it is a new model then. With the turn taken.
 */
export async function leaveCounting(
  tx: Tx,
  { before, ...person }: Person & { before: string | null },
): Promise<boolean> {
  return (await updateCountedFrom(tx, { ...person, to: before })) > 0;
}

/** The oldest that were received before then, at most `limit` of them; how many they were. What timers look back to stays. */
export function forgetEvents(tx: Tx, wanted: Forgetting): Promise<number> {
  return deleteEventsBefore(tx, wanted);
}
