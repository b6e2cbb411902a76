import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import { within } from '../../base/within.ts';
import { type Database, isCollision, isRefusedData, type Session } from '../../io/db/index.ts';
import type { Entry, Priority } from './entry.ts';
import { type Fate, flush } from './flush.ts';

/**
 * Turns a failed flush into what each of its entries should hear. While flushes follow each other it keeps one
 * connection, so that the next one is on the wire before the last one's answers are written.
 */
export type Committer = {
  /** `until`: the moment, on the clock of `performance`, at which whoever still waits hears 503. */
  decide(entries: Entry[], until: number): Promise<Result[]>;
  /** Nothing to do for now: the connection goes back. */
  rest(): void;
};

export type Result = { ok: true; fate: Fate } | { ok: false; error: unknown };

export type CommitterOptions = {
  db: Database;
  log: Log;
  priority: Priority;
  onFlush?: (facts: { priority: Priority; requests: number; records: number; ms: number }) => void;
};

/** Longer than any healthy commit; whoever waits longer may come back with the same Idempotency-Key. */
export const COMMIT_WITHIN_MS = 5_000;
const COLLISIONS_MAX = 3;
const RETRY_AFTER_S = 1;

export function createCommitter(options: CommitterOptions): Committer {
  const { reach } = options.db;
  let held: Session | null = null;
  let opening: Promise<Session> | null = null;

  /** Two flushes that find no connection wait for the same one. */
  async function hold(): Promise<Session> {
    opening ??= options.db.session();
    try {
      held = await opening;
      return held;
    } finally {
      opening = null;
    }
  }

  async function commit(entries: Entry[], until: number): Promise<Fate[]> {
    const startedAt = performance.now();
    const session = held ?? (await within(hold(), until - startedAt));
    let fates: Fate[];
    try {
      reach?.('accept_beginning');
      const work = flush(session, entries, {
        now: options.db.clock.now(),
        priority: options.priority,
        reach,
      });
      fates = await within(work, until - performance.now());
    } catch (error) {
      // The commit that travelled behind a refused statement has ended its transaction; of any other state we know nothing.
      if (!isRefusedData(error) && !isCollision(error) && held === session) {
        held = null;
        session.release(true);
      }
      throw error;
    }
    reach?.('accept_committed');
    report(entries, performance.now() - startedAt, options);
    return fates;
  }

  return {
    decide: (entries, until) => decide(entries, (each) => commit(each, until), options.log),
    rest() {
      held?.release();
      held = null;
    },
  };
}

type Commit = (entries: Entry[]) => Promise<Fate[]>;

async function decide(entries: Entry[], commit: Commit, log: Log): Promise<Result[]> {
  try {
    const fates = await insist(entries, commit, log);
    return fates.map((fate) => ({ ok: true, fate }));
  } catch (error) {
    if (!isRefusedData(error)) return entries.map(() => ({ ok: false, error: unavailable(error) }));
    if (entries.length === 1) {
      return [{ ok: false, error: new Error('the database refused a record', { cause: error }) }];
    }
    // One of them holds what the database refuses. Each by itself, and only that one fails.
    const results: Result[] = [];
    for (const entry of entries) results.push(...(await decide([entry], commit, log)));
    return results;
  }
}

async function insist(entries: Entry[], commit: Commit, log: Log): Promise<Fate[]> {
  for (let collisions = 0; ; collisions += 1) {
    try {
      return await commit(entries);
    } catch (error) {
      if (!isCollision(error) || collisions === COLLISIONS_MAX) throw error;
      log.warn({ err: error }, 'flush.retried');
    }
  }
}

export function unavailable(cause: unknown): Fault {
  return new Fault('server_error', { retryAfterS: RETRY_AFTER_S, cause });
}

function report(entries: Entry[], ms: number, { priority, log, onFlush }: CommitterOptions): void {
  const records = entries.reduce((sum, entry) => sum + entry.records, 0);
  log.info({ priority, requests: entries.length, records, ms: Math.round(ms * 10) / 10 }, 'records.accepted');
  onFlush?.({ priority, requests: entries.length, records, ms });
}
