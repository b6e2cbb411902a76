import type { Log } from '../log.ts';
import type { Database } from '../db/database.ts';
import { createAsker } from './token-requester.ts';
import { type Bucket, type Grant, newBucket, runsLow, takeNow } from './bucket.ts';
import { createShelf } from './token-cache.ts';
import { systemTimer, type Timer } from './timer.ts';

/**
 * Token buckets that all processes share through `beckon.rate_limit`. A process leases tokens in advance, so nearly every request is
 * decided in memory. The tokens in the database plus the leased ones never exceed the bucket.
 *
 * - `counter` finds the bucket, and takes an available token.
 * - `bucket` makes the decisions that one answer of the database allows, for at most a second.
 * - `asker` sends one statement for all buckets that need tokens, at most every 50 ms. It handles failure and recovery.
 * - `shelf` keeps all known buckets, returns unused stock, and drops idle buckets.
 * - `store` contains the statement.
 */
export type Counter = {
  /** Returns a leased token or a remembered refusal; undefined if `take` must query the database. */
  takeNow(projectId: number, name: string): Grant | undefined;
  /** Rejects with a Fault `server_error` if the database is unavailable. */
  take(projectId: number, name: string): Promise<Grant>;
  /** Returns unused tokens. */
  close(): Promise<void>;
};

export type CounterDeps = {
  db: Pick<Database, 'prepared' | 'query' | 'clock'>;
  /** For a project that does not have a row yet. */
  defaults: Record<string, { rate: number; burst: number }>;
  log: Log;
  timer?: Timer;
};

export function createCounter(deps: CounterDeps): Counter {
  const timer = deps.timer ?? systemTimer;
  const { clock } = deps.db;
  const shelf = createShelf({ clock, timer, giveBack: (bucket) => asker.ask(bucket) });
  const asker = createAsker({ ...deps, timer, settled: (buckets, now) => shelf.settled(buckets, now) });
  let closing: Promise<void> | null = null;

  function tryTake(bucket: Bucket, now: number): Grant | undefined {
    const grant = takeNow(bucket, now);
    if (grant?.ok && runsLow(bucket, now)) asker.ask(bucket);
    return grant;
  }
  return {
    takeNow(projectId, name) {
      const bucket = shelf.find(projectId, name);
      return bucket && tryTake(bucket, clock.now());
    },
    take(projectId, name) {
      if (!deps.defaults[name]) return Promise.reject(new Error(`no rate limit is named ${name}`));
      const bucket = shelf.find(projectId, name) ?? shelf.add(newBucket(projectId, name));
      const grant = tryTake(bucket, clock.now());
      if (grant) return Promise.resolve(grant);
      return new Promise((resolve, reject) => asker.wait(bucket, { resolve, reject }));
    },
    close: () => (closing ??= asker.close(() => shelf.clear())),
  };
}
