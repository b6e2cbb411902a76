import { Fault } from '../../../platform/fault.ts';
import { findPeople, type PersonId } from './people.ts';
import { type KeptChange, type PersonThen, personThen } from './past-traits.ts';
import { listImports } from './reads.ts';
import { listNoted } from './list-noted.ts';
import type { Person } from './person.ts';
import { unknownPerson } from './show-person.ts';
import { getSettings } from '../../workspace/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type Asked = PersonId & { at: number; now: number };

/** `unknown`: the changes of that time are no longer kept. `keptSince`: the time from which they are; null means all of them. */
export type FoundThen = { keptSince: number | null } & (
  | { state: 'known'; then: PersonThen }
  | { state: 'not_created' | 'unknown' }
);

/** Reconstructs what was known about a user at an earlier time, by undoing the stored changes. */
export async function findPersonThen(tx: Tx, asked: Asked): Promise<FoundThen> {
  const { projectId, at, now } = asked;
  if (at > now) throw fromTheFuture();
  const [person] = await findPeople(tx, [asked]);
  if (!person) throw unknownPerson(asked.userId);
  const { keepStreamMs } = (await getSettings(tx, projectId)).settings;
  const keptSince = keepStreamMs === null ? null : now - keepStreamMs;
  if (keptSince !== null && at < keptSince) return { keptSince, state: 'unknown' };
  const then = await findThen(tx, person, asked);
  return then ? { keptSince, state: 'known', then } : { keptSince, state: 'not_created' };
}

function fromTheFuture(): Fault {
  return new Fault('validation_failed', {
    details: [{ message: 'at must not be in the future', field: 'at' }],
  });
}

const PAGE = 1_000;

async function findThen(
  tx: Tx,
  person: Person,
  { projectId, userId, at, now }: Asked,
): Promise<PersonThen | null> {
  const changes: KeptChange[] = [];
  for await (const page of listNoted(tx, { projectId, userId, pageOf: PAGE }))
    for (const { at: changedAt, kind, detail } of page)
      if (kind === 'user_created' || kind === 'user_changed')
        changes.push({
          at: changedAt.getTime(),
          isCreated: kind === 'user_created',
          traits: (detail['traits'] ?? {}) as KeptChange['traits'],
          email: detail['email'] !== undefined,
        });
  const since = Math.min(at, changes[0]?.at ?? at);
  const imports = await listImports(tx, projectId, new Date(since));
  const { traits, email, firstSeenAt } = person;
  return personThen({ now: { at: now, traits, email, firstSeenAt }, changes, imports }, at);
}
