import { setImmediate } from 'node:timers/promises';
import {
  fitsColumn,
  isKnownTrait,
  KNOWN_TRAITS,
  type KnownTrait,
  type Person,
  type PersonChange,
  type WriteSequences,
} from './person.ts';
import { listByAddress, listEmails } from './reads.ts';
import {
  findFirstNormal,
  findPeopleRows,
  listErasures,
  listPeopleRows,
  type PersonRow,
  type PersonWrite,
  upsertEmails,
  upsertPeopleRows,
} from './store.ts';
import { inSlices } from '../../../platform/db/slices.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type PersonId = { projectId: number; userId: string };

/** Returns a unique text for a user of a project. */
export function personKey({ projectId, userId }: PersonId): string {
  return `${projectId} ${userId}`;
}

/** Finds those of these users who exist. Their addresses are read only on request, which saves an index probe. */
export async function findPeople(
  tx: Tx,
  ids: PersonId[],
  { emails }: { emails: boolean } = { emails: true },
): Promise<Person[]> {
  if (ids.length === 0) return [];
  const rows = await findPeopleRows(
    tx,
    ids.map(({ projectId, userId }) => ({ project_id: projectId, external_user_id: userId })),
    emails,
  );
  return rows.map(fromRow);
}

/** Lists users of a project by id after `after`. */
export async function listPeople(
  tx: Tx,
  page: { projectId: number; after: string | null; limit: number },
): Promise<Person[]> {
  return (await listPeopleRows(tx, page)).map(fromRow);
}

export type ChangedPerson = { person: Person; change: PersonChange };

/** Writes the users that a batch changed. No statement of the batch reads them before all are written, so there is time for pauses. */
export async function writePeople(tx: Tx, changed: ChangedPerson[]): Promise<void> {
  const dirty = changed.filter(({ change }) => change.isDirty);
  const emails = changed.flatMap(({ person, change }) =>
    change.emailChanged && person.email !== null
      ? [{ project_id: person.projectId, external_user_id: person.userId, email: person.email }]
      : [],
  );
  await Promise.all([
    inSlices(
      dirty.values().map(({ person }) => toRow(person)),
      (slice) => upsertPeopleRows(tx, slice),
      { bytesOf: (row) => row.traits.length, pause: setImmediate },
    ),
    inSlices(emails, (slice) => upsertEmails(tx, slice)),
  ]);
}

/**
 * Looks up the event that lifted the suppression if the watermark does not contain it. Requires that the events of this batch are stored.
 */
export async function findLift(tx: Tx, person: Person): Promise<void> {
  const afterSeq = person.suppressedSeq ?? 0;
  const found = await findFirstNormal(tx, { projectId: person.projectId, userId: person.userId, afterSeq });
  // Its row may have been deleted by retention. The last normal event is known in any case.
  person.liveSeq = found?.seq ?? person.normalSeq;
  person.triggersLiveSince = found?.accepted_at.getTime() ?? person.lastSeenAt;
}

/** Returns the sequence number of each user's erasure. Records accepted before it are dropped. Nearly always empty. */
export async function findErasures(tx: Tx, projectIds: number[]): Promise<Map<string, number>> {
  const rows = await listErasures(tx, projectIds);
  return new Map(
    rows.map((row) => [personKey({ projectId: row.project_id, userId: row.external_user_id }), row.seq]),
  );
}

function fromRow(row: PersonRow): Person {
  const traits = new Map(Object.entries(row.traits));
  for (const key of KNOWN_KEYS) {
    const value = row[KNOWN_TRAITS[key]];
    if (value !== null) traits.set(key, value);
  }
  return {
    projectId: row.project_id,
    userId: row.external_user_id,
    traits,
    email: row.email,
    firstSeenAt: Math.round(row.first_seen_ms),
    lastSeenAt: Math.round(row.last_seen_ms),
    suppressedSeq: row.suppressed_seq,
    normalSeq: row.normal_seq,
    liveSeq: row.live_seq,
    triggersLiveSince: row.triggers_live_ms === null ? null : Math.round(row.triggers_live_ms),
    written: {
      traits: new Map(Object.entries(row.written_seq?.traits ?? {})),
      email: row.written_seq?.email ?? null,
    },
  };
}

const KNOWN_KEYS = Object.keys(KNOWN_TRAITS) as KnownTrait[];

function toRow(person: Person): PersonWrite {
  const columns = { name: null, plan: null, signup_date: null, company: null, role: null };
  const knownColumns: Record<(typeof KNOWN_TRAITS)[KnownTrait], string | null> = columns;
  const others: [string, unknown][] = [];
  for (const [key, value] of person.traits) {
    if (isKnownTrait(key) && fitsColumn(key, value)) knownColumns[KNOWN_TRAITS[key]] = value;
    else others.push([key, value]);
  }
  return {
    project_id: person.projectId,
    external_user_id: person.userId,
    ...knownColumns,
    traits: JSON.stringify(Object.fromEntries(others)),
    first_seen_at: person.firstSeenAt,
    last_seen_at: person.lastSeenAt,
    suppressed_seq: person.suppressedSeq,
    normal_seq: person.normalSeq,
    live_seq: person.liveSeq,
    triggers_live_since: person.triggersLiveSince,
    written_seq: writtenText(person.written),
  };
}

function writtenText({ traits, email }: WriteSequences): string | null {
  if (traits.size === 0 && email === null) return null;
  return JSON.stringify({ traits: Object.fromEntries(traits), email: email ?? undefined });
}

/** Returns the addresses of those users who have one, by `personKey`. */
export async function findEmails(tx: Tx, people: PersonId[]): Promise<Map<string, string>> {
  if (people.length === 0) return new Map();
  const rows = await listEmails(tx, people);
  return new Map(
    rows.map((row) => [personKey({ projectId: row.project_id, userId: row.external_user_id }), row.email]),
  );
}

/** Finds all users of a project with one of these addresses, ignoring case. */
export async function findByAddress(
  tx: Tx,
  projectId: number,
  addresses: string[],
): Promise<{ userId: string; email: string }[]> {
  if (addresses.length === 0) return [];
  const rows = await listByAddress(tx, projectId, [
    ...new Set(addresses.map((address) => address.toLowerCase())),
  ]);
  return rows.map((row) => ({ userId: row.external_user_id, email: row.email }));
}
