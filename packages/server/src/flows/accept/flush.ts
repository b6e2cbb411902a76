import { IDEMPOTENCY_WINDOW_MS, INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { Reach } from '../../base/crash-points.ts';
import type { Session } from '../../io/db/index.ts';
import type { Entry, Priority } from './entry.ts';
import { lockStatement, storeStatement, type Stored } from './statements.ts';

/**
 * The one transaction of the accept path, over three rooms' tables (`api_key` and `project` read; `idempotency`,
 * `inbox`, `ingest_queue` written): the named exception to "a room writes its own tables".
 *
 *   1. lock the projects' queue rows in order of project_id; from here on each of these projects is ours alone
 *   2. in one statement with a snapshot taken after those locks: whose API key is still live, is there room, who wins
 *      its Idempotency-Key; and the winners' records, sequence and waiting count
 *   3. commit
 *
 * All three travel together, so a flush is one round trip, whoever loses in it. Because revoking takes the same queue lock
 * lock, a key revoked before step 1 is seen in step 2; because every process takes it, sequence order is commit order
 * and the queue cap is exact.
 */
export async function flush(session: Session, entries: Entry[], options: FlushOptions): Promise<Fate[]> {
  const projects = [...new Set(entries.map((entry) => entry.key.projectId))];
  const statement = storeStatement({
    entries,
    priority: options.priority,
    at: new Date(options.now),
    cutoff: new Date(options.now - IDEMPOTENCY_WINDOW_MS),
    waitingBelow: options.priority === 'bulk' ? INGEST_QUEUE_MAX_RECORDS : null,
  });
  const sent = session.together(() => {
    const locking = session.script(lockStatement(projects));
    const storing = session.prepared<Stored>(statement);
    options.reach?.('accept_committing');
    return Promise.all([locking, storing, session.script('COMMIT')]);
  });
  options.reach?.('accept_commit_sent');
  const [, rows] = await sent;
  const stored = rows[0];
  if (!stored) throw new Error('the insert returned no row');
  return stored.all_stored ? entries.map(() => STORED) : fatesOf(entries, stored);
}

export type FlushOptions = { now: number; priority: Priority; reach?: Reach | undefined };

export type Fate =
  | { state: 'stored' }
  /** Somebody else holds this Idempotency-Key; what was answered then is in the database. */
  | { state: 'lost' }
  | { state: 'key_dead' }
  | { state: 'queue_full'; waiting: number };

const STORED: Fate = { state: 'stored' };

function fatesOf(entries: Entry[], stored: Stored): Fate[] {
  const live = new Set(stored.live);
  const taken = new Set(stored.taken);
  return entries.map((entry, i) => {
    if (!live.has(entry.key.id)) return { state: 'key_dead' };
    if (stored.is_full) return { state: 'queue_full', waiting: stored.waiting };
    return taken.has(i + 1) ? STORED : { state: 'lost' };
  });
}
