import type { IngestPriority } from '../queue/chunk.ts';
import { IDEMPOTENCY_WINDOW_MS, INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { FailpointHook } from '../../../platform/failpoints.ts';
import type { Session } from '../../../platform/db/statements.ts';
import type { IngestEntry } from './entry.ts';
import { listLiveIds } from '../keys/store.ts';
import { lockStatement, type Store, storeStatement, type StoreResultRow } from './statements.ts';

/**
 * Stores a batch of entries in the one transaction of the accept path. It crosses the tables of three modules: it reads `api_key` and
 * `project` and writes `idempotency`, `ingest_queue` and `ingest_queue_state`. This is the documented exception to "a module writes only its own
 * tables".
 *
 * 1. Lock the projects' queue rows in order of project_id. From here on, no other process can change these projects.
 * 2. Run one statement, with a snapshot taken after those locks. It checks that the API key is still live and that the queue has
 *    space, and claims the Idempotency-Key. It then writes the claimed entries' records, sequence and waiting count.
 * 3. Commit.
 *
 * All three are sent together, so a flush is one round trip, whichever entries lose. Revoking takes the same queue lock, so a key revoked
 * before step 1 is seen in step 2. Every process takes the lock, so sequence order is commit order and the queue cap is exact.
 */
export async function flush(
  session: Session,
  entries: IngestEntry[],
  options: FlushOptions,
): Promise<IngestEntryResult[]> {
  if (session.isDistributed) return flushProject(session, entries, options);
  const projects = [...new Set(entries.map((entry) => entry.key.projectId))];
  const statement = storeStatement({ ...storeOptions(options), entries, areKeysChecked: false });
  const sent = session.together(() => {
    const locking = session.script(lockStatement(projects, { isDistributed: false }));
    const storing = session.prepared<StoreResultRow>(statement);
    options.failpoint?.('ingest_committing');
    return Promise.all([locking, storing, session.script('COMMIT')]);
  });
  options.failpoint?.('ingest_commit_sent');
  const [, rows] = await sent;
  const stored = rows[0];
  if (!stored) throw new Error('the insert returned no row');
  return stored.all_stored ? entries.map(() => STORED) : entryResults(entries, stored);
}

export type FlushOptions = { now: number; priority: IngestPriority; failpoint?: FailpointHook | undefined };

export type IngestEntryResult =
  | { state: 'stored' }
  /** Another request has claimed this Idempotency-Key; its reply is in the database. */
  | { state: 'lost' }
  | { state: 'key_dead' }
  | { state: 'queue_full'; waiting: number };

const STORED: IngestEntryResult = { state: 'stored' };
const KEY_DEAD: IngestEntryResult = { state: 'key_dead' };

function storeOptions({ now, priority }: FlushOptions): Omit<Store, 'entries' | 'areKeysChecked'> {
  return {
    priority,
    at: new Date(now),
    cutoff: new Date(now - IDEMPOTENCY_WINDOW_MS),
    waitingBelow: priority === 'bulk' ? INGEST_QUEUE_MAX_RECORDS : null,
  };
}

/**
 * Does the same where tables are distributed, for entries of one project. API keys may be stored on another node than their project. A
 * separate statement checks them between the lock and the insert, so such a flush takes two round trips.
 */
async function flushProject(
  session: Session,
  entries: IngestEntry[],
  options: FlushOptions,
): Promise<IngestEntryResult[]> {
  const [first] = entries;
  const keys = new Map(entries.map(({ key }) => [key.id, key]));
  try {
    const [, liveIds] = await session.together(() =>
      Promise.all([
        session.script(lockStatement(first ? [first.key.projectId] : [], { isDistributed: true })),
        listLiveIds(session, [...keys.values()]),
      ]),
    );
    const live = new Set(liveIds);
    const valid = entries.filter(({ key }) => live.has(key.id));
    const results = valid.length > 0 ? await storeChecked(session, valid, options) : [];
    if (valid.length === 0) await session.script('ROLLBACK');
    const resultOf = new Map(valid.map((entry, i) => [entry, results[i]]));
    return entries.map((entry) => resultOf.get(entry) ?? KEY_DEAD);
  } catch (error) {
    // The committer keeps the connection after a rejected record, and closes it after any other failure.
    await session.script('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function storeChecked(
  session: Session,
  entries: IngestEntry[],
  options: FlushOptions,
): Promise<IngestEntryResult[]> {
  const statement = storeStatement({ ...storeOptions(options), entries, areKeysChecked: true });
  const sent = session.together(() => {
    const storing = session.prepared<StoreResultRow>(statement);
    options.failpoint?.('ingest_committing');
    return Promise.all([storing, session.script('COMMIT')]);
  });
  options.failpoint?.('ingest_commit_sent');
  const [rows] = await sent;
  const [stored] = rows;
  if (!stored) throw new Error('the insert returned no row');
  return stored.all_stored ? entries.map(() => STORED) : entryResults(entries, stored);
}

function entryResults(entries: IngestEntry[], stored: StoreResultRow): IngestEntryResult[] {
  const live = new Set(stored.live);
  const accepted = new Set(stored.accepted);
  return entries.map((entry, i) => {
    if (!live.has(entry.key.id)) return KEY_DEAD;
    if (stored.is_full) return { state: 'queue_full', waiting: stored.waiting };
    return accepted.has(i + 1) ? STORED : { state: 'lost' };
  });
}
