import type { IngestPriority } from '../queue/chunk.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Log } from '../../../platform/log.ts';
import { within } from '../../../platform/time/within.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision, isRefusedData } from '../../../platform/db/errors.ts';
import type { Session } from '../../../platform/db/statements.ts';
import type { IngestEntry } from './entry.ts';
import { type IngestEntryResult, flush } from './flush.ts';

/**
 * Maps a failed flush to a result for each of its entries. While flushes follow each other, the committer keeps one connection. The next
 * flush is then on the wire before the answers of the previous one are written.
 */
export type Committer = {
  /** `until` is the time, on the clock of `performance`, after which entries that still wait get a 503. */
  decide(entries: IngestEntry[], until: number): Promise<CommitResult[]>;
  /** Returns the connection to the pool because there is no work. */
  releaseIdle(): void;
};

export type CommitResult = { ok: true; value: IngestEntryResult } | { ok: false; error: unknown };

export type CommitterOptions = {
  db: Database;
  log: Log;
  priority: IngestPriority;
  onFlush?: (facts: { priority: IngestPriority; requests: number; records: number; ms: number }) => void;
};

/** Longer than any healthy commit takes. A caller that gets a 503 after it may retry with the same Idempotency-Key. */
export const COMMIT_WITHIN_MS = 5_000;
const COLLISIONS_MAX = 3;
const RETRY_AFTER_S = 1;

export function createCommitter(options: CommitterOptions): Committer {
  const { failpoint } = options.db;
  let connection: Session | null = null;
  let opening: Promise<Session> | null = null;

  /** Shares one connection attempt between two flushes that find no connection. */
  async function connect(): Promise<Session> {
    opening ??= options.db.session();
    try {
      connection = await opening;
      return connection;
    } finally {
      opening = null;
    }
  }

  async function commit(entries: IngestEntry[], until: number): Promise<IngestEntryResult[]> {
    const startedAt = performance.now();
    const session = connection ?? (await within(connect(), until - startedAt));
    let results: IngestEntryResult[];
    try {
      failpoint?.('ingest_started');
      const work = flush(session, entries, {
        now: options.db.clock.now(),
        priority: options.priority,
        failpoint,
      });
      results = await within(work, until - performance.now());
    } catch (error) {
      // After a rejected statement, the commit sent behind it has ended the transaction. After any other error the state of the connection
      // is unknown.
      if (!isRefusedData(error) && !isCollision(error) && connection === session) {
        connection = null;
        session.release(true);
      }
      throw error;
    }
    failpoint?.('ingest_committed');
    report(entries, performance.now() - startedAt, options);
    return results;
  }

  return {
    decide: (entries, until) => decide(entries, (each) => commit(each, until), options.log),
    releaseIdle() {
      connection?.release();
      connection = null;
    },
  };
}

type Commit = (entries: IngestEntry[]) => Promise<IngestEntryResult[]>;

async function decide(entries: IngestEntry[], commit: Commit, log: Log): Promise<CommitResult[]> {
  try {
    const results = await retryOnCollision(entries, commit, log);
    return results.map((value) => ({ ok: true, value }));
  } catch (error) {
    if (!isRefusedData(error)) return entries.map(() => ({ ok: false, error: unavailable(error) }));
    if (entries.length === 1) {
      return [{ ok: false, error: new Error('the database refused a record', { cause: error }) }];
    }
    // One entry contains data that the database rejects. Each entry is tried separately, so that only that one fails.
    const results: CommitResult[] = [];
    for (const entry of entries) results.push(...(await decide([entry], commit, log)));
    return results;
  }
}

async function retryOnCollision(
  entries: IngestEntry[],
  commit: Commit,
  log: Log,
): Promise<IngestEntryResult[]> {
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

function report(entries: IngestEntry[], ms: number, { priority, log, onFlush }: CommitterOptions): void {
  const records = entries.reduce((sum, entry) => sum + entry.records, 0);
  log.info({ priority, requests: entries.length, records, ms: Math.round(ms * 10) / 10 }, 'records.accepted');
  onFlush?.({ priority, requests: entries.length, records, ms });
}
