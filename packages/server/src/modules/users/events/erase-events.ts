import type { Tx } from '../../../platform/db/statements.ts';
import {
  deleteCountsOf,
  deleteEventsOf,
  type EventPosition,
  findEventStep,
  updateCountedFrom,
} from './forget-store.ts';

type Person = { projectId: number; userId: string };

/** No statement may take longer than a few seconds, and some users have millions of events. */
const STEP = 10_000;
/** Every name has at least one character, so this sorts before the first. */
const START: EventPosition = { name: '', occurred_at: new Date(0) };

/**
 * Deletes all events of a user, of any month. The deduplication keys stay: they are hashes that identify no user, and they keep an erased
 * history erased if it is sent again. Requires the project lock.
 */
export async function eraseEvents(tx: Tx, person: Person): Promise<{ event: number; person_event: number }> {
  let erased = 0;
  let after: EventPosition | undefined = START;
  while (after) {
    const upTo: EventPosition | undefined = await findEventStep(tx, { ...person, after, limit: STEP });
    erased += await deleteEventsOf(tx, { ...person, after, upTo });
    after = upTo;
  }
  return { event: erased, person_event: await deleteCountsOf(tx, person) };
}

/**
 * Moves the position of a running count back to the previous user, `before`, if this user was counted last. Returns true if it did, and the
 * model is then new. Requires the project lock.
 */
export async function leaveCounting(
  tx: Tx,
  { before, ...person }: Person & { before: string | null },
): Promise<boolean> {
  return (await updateCountedFrom(tx, { ...person, to: before })) > 0;
}
