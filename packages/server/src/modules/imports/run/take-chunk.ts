import { INGEST_QUEUE_MAX_RECORDS, type UserInput } from '@beckon/contract';
import { type ImportCounts, FINDINGS_MAX, type Import } from '../import.ts';
import { isSuspended } from '../reads.ts';
import type { ImportDeps } from './deps.ts';
import { LEASE_MS } from './lease.ts';
import { findErased } from './leave-out.ts';
import { type RowFinding, type ReadChunk, readChunk } from './read-chunk.ts';
import type { ImportChunk } from '../source.ts';
import { insertFindings, lockImport, updateProgress } from '../store.ts';
import { encodeChunk, insertChunks, lockQueue, updateQueueAdvanced } from '../../ingest/index.ts';
import { type AcceptedEvent, dedupeKey, findPeople, isSame, type Person } from '../../users/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';
import { parseJson } from '../../../platform/text/parse-json.ts';

/** `lost`: a member changed the import, or another worker has it. */
type ChunkResult = { state: 'taken'; job: Import } | { state: 'full' | 'suspended' | 'lost' };

/**
 * Accepts one chunk and records the progress of the import in one commit. A worker killed before the commit has changed nothing; after it,
 * the next worker continues behind the chunk. As everywhere, the import row is locked first and the queue row last.
 */
export async function takeChunk(deps: ImportDeps, job: Import, chunk: ImportChunk): Promise<ChunkResult> {
  const { db } = deps;
  const now = db.clock.now();
  // Times in a record are checked against the project's own clock, which may be ahead in a sandbox.
  const { aheadMs } = await readProjectLock(db, job.projectId);
  const read = readChunk(chunk, { now: now + aheadMs, suppress: !job.isLive });
  try {
    const moved = await db.transaction(async (tx) => {
      const updated = await take(tx, job, { chunk, read, now });
      db.failpoint?.('import_committing');
      return updated;
    });
    if (moved === null) return { state: 'lost' };
    db.failpoint?.('import_committed');
    deps.accepted();
    return { state: 'taken', job: moved };
  } catch (error) {
    if (error instanceof ChunkRejection) return { state: error.state };
    throw error;
  }
}

/** Rolls back the transaction. */
class ChunkRejection extends Error {
  readonly state: 'full' | 'suspended';
  constructor(state: ChunkRejection['state']) {
    super(`the import accepts no rows: ${state}`);
    this.state = state;
  }
}

type Step = { chunk: ImportChunk; read: ReadChunk; now: number };

async function take(tx: Tx, job: Import, { chunk, read, now }: Step): Promise<Import | null> {
  const { projectId } = job;
  const row = await lockImport(tx, job);
  if (row?.epoch !== job.epoch || row.state !== 'running') return null;
  const out = await findErased(tx, job);
  const { users, events, rejected, erased } = out.ofChunk(read);
  const compared = await compare(tx, projectId, { users, events });
  const findings = out.ofFindings(findingsOf(rejected, chunk)).slice(0, FINDINGS_MAX - job.findings);
  await insertFindings(tx, { ...job, from: job.findings }, findings);
  const counts = add(job.counts, {
    ...compared,
    rows: chunk.rows,
    bytes: chunk.bytes ?? 0,
    rejected: rejected.length,
    erased,
  });
  const facts = addFacts(job.facts, chunk.facts ?? {});
  const next = { position: chunk.position, counts, facts, findings: job.findings + findings.length };
  const lease = { at: new Date(now), leaseUntil: new Date(now + LEASE_MS) };
  if (!(await updateProgress(tx, job, { ...next, ...lease, waitsFor: null }))) return null;
  const brought = [
    { kind: 'users' as const, records: users.map(({ text }) => text) },
    { kind: 'events' as const, records: events.map(({ text }) => text) },
  ];
  if (!(await acceptImported(tx, { projectId, acceptedAt: new Date(now), brought })))
    throw new ChunkRejection('full');
  if (await isSuspended(tx, projectId)) throw new ChunkRejection('suspended');
  return { ...job, ...next, waitsFor: null };
}

/** Adds the notes of a chunk to its rejected rows. The subject of a note may be a user, so it counts as the user id. */
export function findingsOf(rejected: RowFinding[], chunk: ImportChunk): RowFinding[] {
  const notes = (chunk.notes ?? []).map(({ kind, subject, text }) => ({
    kind,
    line: null,
    field: null,
    message: text,
    raw: subject,
    userId: subject,
  }));
  return [...rejected, ...notes];
}

function add(counts: ImportCounts, more: Partial<ImportCounts>): ImportCounts {
  const sum = { ...counts };
  for (const name of Object.keys(counts) as (keyof ImportCounts)[]) sum[name] += more[name] ?? 0;
  return sum;
}

const FACTS_MAX = 50;

export function addFacts(facts: Import['facts'], more: NonNullable<ImportChunk['facts']>): Import['facts'] {
  const sum = { ...facts };
  for (const [name, count] of Object.entries(more))
    if (Object.hasOwn(sum, name) || Object.keys(sum).length < FACTS_MAX) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

type ImportedRecords = { kind: 'users' | 'events'; records: string[] };

/**
 * Adds records of an import, as texts, to the end of the ingest queue. Adds nothing and returns false if the queue is as long as the limit
 * for bulk requests. The queue row stays locked until the transaction ends, so nothing may follow but the commit. The same commit stores
 * the progress of the import, so a crash cannot separate the two.
 */
async function acceptImported(
  tx: Tx,
  { projectId, acceptedAt, brought }: { projectId: number; acceptedAt: Date; brought: ImportedRecords[] },
): Promise<boolean> {
  const { next_seq: first, waiting } = await lockQueue(tx, projectId);
  if (waiting >= INGEST_QUEUE_MAX_RECORDS) return false;
  const batches = brought.filter(({ records }) => records.length > 0);
  let seq = first;
  for (const { kind, records } of batches) {
    const body = encodeChunk(`[${records.join(',')}]`);
    const chunk = {
      seq,
      priority: 'bulk' as const,
      kind,
      records: records.length,
      body,
      accepted_at: acceptedAt,
    };
    await insertChunks(tx, projectId, [chunk]);
    seq += records.length;
  }
  if (seq > first) await updateQueueAdvanced(tx, { projectId, records: seq - first });
  return true;
}

type Compared = Pick<
  ImportCounts,
  'users' | 'usersNew' | 'usersChanged' | 'usersSame' | 'events' | 'eventsNew' | 'eventsKnown'
>;

/** Counts what is new in a chunk, so that the report of a repeated import can say that it brought nothing. */
async function compare(
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
  const existing = new Map(found.map((person) => [person.userId, person]));
  const counted = { users: users.length, usersNew: 0, usersChanged: 0, usersSame: 0 };
  const seen = new Set<string>();
  for (const { record } of users) {
    const person = existing.get(record.external_user_id);
    const isFirst = !seen.has(record.external_user_id);
    seen.add(record.external_user_id);
    if (!person && isFirst) counted.usersNew += 1;
    else if (person && isUnchanged(person, record)) counted.usersSame += 1;
    else counted.usersChanged += 1;
  }
  return counted;
}

function isUnchanged(person: Person, { email, traits = {} }: UserInput): boolean {
  if (email !== undefined && email !== person.email) return false;
  return Object.entries(traits).every(([key, value]) => isSame(person.traits.get(key), value ?? undefined));
}

async function compareEvents(
  tx: Tx,
  projectId: number,
  events: ReadChunk['events'],
): Promise<Pick<Compared, 'events' | 'eventsNew' | 'eventsKnown'>> {
  const keys = events.map(({ text }) => dedupeKey(parseJson(text) as AcceptedEvent, 'bulk') ?? '');
  const storedKeys = await findStoredKeys(tx, projectId, [...new Set(keys)]);
  let eventsNew = 0;
  for (const key of keys) {
    if (storedKeys.has(key)) continue;
    storedKeys.add(key);
    eventsNew += 1;
  }
  return { events: events.length, eventsNew, eventsKnown: events.length - eventsNew };
}

/** Returns those of these keys, in hex, that are already stored. */
async function findStoredKeys(tx: Tx, projectId: number, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `SELECT k.key FROM unnest($2::text[]) AS k(key)
     JOIN beckon.event_dedupe d ON d.project_id = $1 AND d.dedupe_key = decode(k.key, 'hex')`,
    [projectId, keys],
  );
  return new Set(rows.map(({ key }) => key));
}
