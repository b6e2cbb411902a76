import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { findPeople } from './people.ts';
import type { Person } from './person.ts';
import { isSuppressed, SUPPRESSED_UNTIL } from './watermark.ts';

/** A user with the field names of the API. */
export type PersonView = {
  external_user_id: string;
  email: string | null;
  traits: Record<string, unknown>;
  suppressTriggersUntil: string | null;
  triggersLiveSince: string | null;
  first_seen_at: string;
  last_seen_at: string;
};

/** Returns undefined if there is no user with this id. */
export async function showPerson(
  tx: Tx,
  query: { projectId: number; userId: string },
): Promise<PersonView | undefined> {
  const [person] = isStorable(query.userId) ? await findPeople(tx, [query]) : [];
  return person && personView(person);
}

function personView(person: Person): PersonView {
  const { userId, email, traits, triggersLiveSince, firstSeenAt, lastSeenAt } = person;
  return {
    external_user_id: userId,
    email,
    traits: Object.fromEntries(traits),
    suppressTriggersUntil: isSuppressed(person) ? SUPPRESSED_UNTIL : null,
    triggersLiveSince: isoOrNull(triggersLiveSince),
    first_seen_at: iso(firstSeenAt),
    last_seen_at: iso(lastSeenAt),
  };
}

/** A text that PostgreSQL cannot hold, or would hold as another one, is not a valid user id. */
export function isStorable(userId: string): boolean {
  return !userId.includes('\0') && userId.isWellFormed();
}

export function unknownPerson(userId: string): Fault {
  const message = `This project has no user ${JSON.stringify(userId)}`;
  return new Fault('not_found', { details: [{ message, field: 'user' }] });
}
