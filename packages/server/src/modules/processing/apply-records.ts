import {
  type AcceptedEvent,
  dedupeKey,
  type NewEvent,
  type Person,
  type PersonChange,
  type PersonId,
  personKey,
} from '../users/index.ts';
import { occurrenceKey } from '../audiences/index.ts';
import type { ChunkProgress, WaitingChunk } from '../ingest/index.ts';
import { type AcceptedUser, type Mark, mergeEvent, mergeUser, newPerson, noChange } from './merge-person.ts';

/** An accepted record during processing. `key` is the deduplication key of an event; null if it has no duplicates. */
export type QueuedRecord = PersonId & { seq: number; acceptedAt: number; person: string } & (
    | { kind: 'users'; user: AcceptedUser }
    | { kind: 'events'; event: AcceptedEvent; key: string | null }
  );

export type RecordBatch = {
  /** In the order of acceptance within each project. */
  records: QueuedRecord[];
  people: Map<string, PersonId>;
  /** How much of each chunk the batch holds, dropped records included. */
  progress: ChunkProgress[];
  /** Number of records of users who were erased after the records were sent. */
  dropped: number;
  /** The sequence of the first record, dropped or not. */
  firstSeq: number | null;
};

export type TakeRecordsOptions = {
  /** Maximum number of records per project. */
  recordsPerProject: number;
  /** Approximate maximum size of the JSON per project. */
  bytesPerProject: number;
  /** Maps a user to the sequence of their erasure. */
  erasures: Map<string, number>;
};

/** Takes from each project's chunks, in order, as much as one batch may hold. */
export function takeRecords(chunks: WaitingChunk[], options: TakeRecordsOptions): RecordBatch {
  const batch: RecordBatch = {
    records: [],
    people: new Map(),
    progress: [],
    dropped: 0,
    firstSeq: chunks[0]?.seq ?? null,
  };
  const capacity = new Map<number, { records: number; bytes: number }>();
  for (const chunk of chunks) {
    const remaining = capacity.get(chunk.projectId) ?? {
      records: options.recordsPerProject,
      bytes: options.bytesPerProject,
    };
    capacity.set(chunk.projectId, remaining);
    const records = countFitting(chunk, remaining);
    if (records === 0) continue;
    remaining.records -= records;
    remaining.bytes -= (chunk.bytes / chunk.records.length) * records;
    const isWhole = records === chunk.records.length;
    // Records behind a chunk that was cut wait for the next batch.
    if (!isWhole) remaining.records = 0;
    batch.progress.push({
      projectId: chunk.projectId,
      priority: chunk.priority,
      rowSeq: chunk.rowSeq,
      records,
      isWhole,
    });
    for (let i = 0; i < records; i += 1) add(batch, readRecord(chunk, i), options.erasures);
  }
  return batch;
}

/** Returns at least one, however large the record is, so that it is processed some day. */
function countFitting(
  { records, bytes }: WaitingChunk,
  remaining: { records: number; bytes: number },
): number {
  if (remaining.records === 0 || remaining.bytes <= 0) return 0;
  const fitting = Math.floor(remaining.bytes / (bytes / records.length));
  return Math.min(records.length, remaining.records, Math.max(1, fitting));
}

function readRecord(chunk: WaitingChunk, i: number): QueuedRecord {
  const { projectId, priority, kind } = chunk;
  const record = chunk.records[i] as AcceptedUser | AcceptedEvent;
  const userId = record.external_user_id;
  const person = personKey({ projectId, userId });
  const seq = chunk.seq + i;
  const acceptedAt = chunk.acceptedAt.getTime();
  if (kind === 'users') return { projectId, userId, person, seq, acceptedAt, kind, user: record };
  const event = record as AcceptedEvent;
  const key = dedupeKey(event, priority);
  return { projectId, userId, person, seq, acceptedAt, kind, event, key };
}

function add(batch: RecordBatch, record: QueuedRecord, erasures: Map<string, number>): void {
  if (record.seq < (erasures.get(record.person) ?? 0)) {
    batch.dropped += 1;
    return;
  }
  batch.records.push(record);
  if (!batch.people.has(record.person)) {
    batch.people.set(record.person, { projectId: record.projectId, userId: record.userId });
  }
}

type KeyedEvent = QueuedRecord & { kind: 'events'; key: string };

/** Returns the events with a deduplication key, each key once. The first of two duplicates in one batch makes the claim. */
export function claimsOf(records: QueuedRecord[]): KeyedEvent[] {
  const claims = new Map<string, KeyedEvent>();
  for (const record of records) {
    if (record.kind !== 'events' || record.key === null) continue;
    const name = `${record.projectId} ${record.key}`;
    if (!claims.has(name)) claims.set(name, record as KeyedEvent);
  }
  return [...claims.values()];
}

/** Some users of a batch, and all its records about them in the order of acceptance. */
export type BatchSlice = { people: PersonId[]; records: QueuedRecord[] };

/** The users of one slice. While their records are applied here, the database looks up the users of the next one. */
const SLICE_PEOPLE = 250;

export function slicesOf({ people, records }: Pick<RecordBatch, 'people' | 'records'>): BatchSlice[] {
  if (people.size <= SLICE_PEOPLE) return [{ people: [...people.values()], records }];
  const slices: BatchSlice[] = [];
  const sliceOf = new Map<string, BatchSlice>();
  for (const [key, person] of people) {
    let slice = slices.at(-1);
    if (!slice || slice.people.length === SLICE_PEOPLE) slices.push((slice = { people: [], records: [] }));
    slice.people.push(person);
    sliceOf.set(key, slice);
  }
  for (const record of records) sliceOf.get(record.person)?.records.push(record);
  return slices;
}

export type AppliedRecords = {
  people: Map<string, { person: Person; change: PersonChange }>;
  events: NewEvent[];
};

export type ApplyRecordsInput = {
  /** The result of the slices before, to which this one is added. */
  applied: AppliedRecords;
  people: Person[];
  /** The records with a deduplication key that were not sent before. */
  fresh: ReadonlySet<QueuedRecord>;
  newId: () => string;
  /** Maps a project to its oldest record that waits in the other priority. */
  oldestOtherPriority: Map<number, number>;
  /** Awaited after each piece of the batch, so that the event loop can handle other requests in between. */
  pause: () => Promise<void>;
};

/** Merging this many values takes about 10 ms. A batch may have 300,000, which would block the process for 130 ms. */
export const VALUES_PER_PIECE = 25_000;

/** Applies records in memory to their users. Adds the new state of the users, and the events that are new. */
export async function applyRecords(records: QueuedRecord[], input: ApplyRecordsInput): Promise<void> {
  const { applied } = input;
  for (const person of input.people)
    applied.people.set(personKey(person), { person, change: noChange(false) });
  let values = 0;
  for (const record of records) {
    values += valuesOf(record);
    if (values > VALUES_PER_PIECE) {
      await input.pause();
      values = valuesOf(record);
    }
    const isNew = record.kind === 'users' || record.key === null || input.fresh.has(record);
    if (!isNew) continue;
    const entry = applied.people.get(record.person) ?? addPerson(applied, record);
    if (!entry) continue;
    const { person, change } = entry;
    const mark: Mark = {
      seq: record.seq,
      acceptedAt: record.acceptedAt,
      olderWaits: (input.oldestOtherPriority.get(record.projectId) ?? Infinity) < record.seq,
    };
    if (record.kind === 'users') mergeUser(person, change, { user: record.user, mark });
    else {
      const event = toEvent(record, record.event, input.newId());
      const { suppressed, occurredAt: at } = event;
      // The outcome of an email is not an activity of the user.
      if (suppressed !== null) mergeEvent(person, change, { suppressed, occurredAt: at, mark });
      applied.events.push(event);
    }
  }
}

/** Restores the order of acceptance of events that were added slice by slice. */
export function sortEvents({ events }: AppliedRecords): void {
  events.sort((a, b) => a.projectId - b.projectId || a.seq - b.seq);
}

function valuesOf(record: QueuedRecord): number {
  return record.kind === 'users' ? 1 + Object.keys(record.user.traits ?? {}).length : 1;
}

/**
 * Creates a user from an event about an unknown user; without an address they get no email yet. The outcome of an email creates no user,
 * because its user was erased.
 */
function addPerson(
  applied: AppliedRecords,
  record: QueuedRecord,
): { person: Person; change: PersonChange } | null {
  if (record.kind === 'events' && record.event.own !== undefined) return null;
  const seenAt = record.kind === 'events' ? occurredAt(record.event, record.acceptedAt) : record.acceptedAt;
  const person = newPerson(record.projectId, record.userId, seenAt);
  const entry = { person, change: noChange(true) };
  applied.people.set(record.person, entry);
  return entry;
}

function toEvent(
  { projectId, userId, seq, acceptedAt }: QueuedRecord,
  event: AcceptedEvent,
  id: string,
): NewEvent {
  return {
    projectId,
    id: event.own ?? id,
    userId,
    name: event.name,
    properties: event.properties,
    occurredAt: occurredAt(event, acceptedAt),
    acceptedAt,
    seq,
    suppressed: event.own === undefined ? (event.suppress ?? false) : null,
  };
}

/** Returns each user's events in this batch, and the latest time of each event name. */
export function groupEvents(events: NewEvent[]): {
  byPerson: Map<string, NewEvent[]>;
  latest: Map<string, number>;
} {
  const byPerson = new Map<string, NewEvent[]>();
  const latest = new Map<string, number>();
  for (const event of events) {
    const { projectId, userId, name, occurredAt } = event;
    const person = personKey({ projectId, userId });
    const personEvents = byPerson.get(person);
    if (personEvents) personEvents.push(event);
    else byPerson.set(person, [event]);
    const key = occurrenceKey(projectId, userId, name);
    latest.set(key, Math.max(latest.get(key) ?? 0, occurredAt));
  }
  return { byPerson, latest };
}

function occurredAt(event: AcceptedEvent, acceptedAt: number): number {
  return event.occurred_at === undefined ? acceptedAt : Math.min(Date.parse(event.occurred_at), acceptedAt);
}
