import type { UserInput } from '@beckon/contract';
import type { Counts } from '../import.ts';
import type { ReadChunk } from './read-chunk.ts';
import { type AcceptedEvent, dedupeKey, findPeople, isSame, type Person } from '../../users/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type Compared = Pick<
  Counts,
  'users' | 'usersNew' | 'usersChanged' | 'usersSame' | 'events' | 'eventsNew' | 'eventsKnown'
>;

/** Counts what is new in a chunk, so that the report of a repeated import can say that it brought nothing. */
export async function compare(
  tx: Tx,
  projectId: number,
  chunk: Pick<ReadChunk, 'users' | 'events'>,
): Promise<Compared> {
  const users = await compareUsers(tx, projectId, chunk.users);
  const events = await compareEvents(tx, projectId, chunk.events);
  return { ...users, ...events };
}

async function compareUsers(
  tx: Tx,
  projectId: number,
  users: ReadChunk['users'],
): Promise<Pick<Compared, 'users' | 'usersNew' | 'usersChanged' | 'usersSame'>> {
  const ids = [...new Set(users.map(({ record }) => record.external_user_id))];
  const found = await findPeople(
    tx,
    ids.map((userId) => ({ projectId, userId })),
  );
  const known = new Map(found.map((person) => [person.userId, person]));
  const counted = { users: users.length, usersNew: 0, usersChanged: 0, usersSame: 0 };
  const seen = new Set<string>();
  for (const { record } of users) {
    const person = known.get(record.external_user_id);
    const isFirst = !seen.has(record.external_user_id);
    seen.add(record.external_user_id);
    if (!person && isFirst) counted.usersNew += 1;
    else if (person && saysNothingNew(person, record)) counted.usersSame += 1;
    else counted.usersChanged += 1;
  }
  return counted;
}

function saysNothingNew(person: Person, { email, traits = {} }: UserInput): boolean {
  if (email !== undefined && email !== person.email) return false;
  return Object.entries(traits).every(([key, value]) => isSame(person.traits.get(key), value ?? undefined));
}

async function compareEvents(
  tx: Tx,
  projectId: number,
  events: ReadChunk['events'],
): Promise<Pick<Compared, 'events' | 'eventsNew' | 'eventsKnown'>> {
  const keys = events.map(({ text }) => dedupeKey(JSON.parse(text) as AcceptedEvent, 'bulk') ?? '');
  const known = await findKnownKeys(tx, projectId, [...new Set(keys)]);
  let eventsNew = 0;
  for (const key of keys) {
    if (known.has(key)) continue;
    known.add(key);
    eventsNew += 1;
  }
  return { events: events.length, eventsNew, eventsKnown: events.length - eventsNew };
}

/** Returns those of these keys, in hex, that are already stored. */
async function findKnownKeys(tx: Tx, projectId: number, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `SELECT k.key FROM unnest($2::text[]) AS k(key)
     JOIN beckon.event_dedupe d ON d.project_id = $1 AND d.dedupe_key = decode(k.key, 'hex')`,
    [projectId, keys],
  );
  return new Set(rows.map(({ key }) => key));
}
