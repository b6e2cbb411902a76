import type { Log } from '../../base/log.ts';
import type { Database } from '../db/index.ts';
import { createAsker } from './asker.ts';
import { type Bucket, type Grant, newBucket, runsLow, takeNow } from './bucket.ts';
import { createShelf } from './shelf.ts';
import { systemTimer, type Timer } from './timer.ts';

/**
 * Token buckets that all processes share through `beckon.rate_limit`. A process leases tokens in advance, so nearly
 * every request is decided in memory; what the database holds plus what is leased is never more than the bucket.
 *
 *   counter   finds the bucket, takes what is at hand
 *   bucket    what one answer of the database allows to decide, for at most a second
 *   asker     one statement for all buckets that ask, at most every 50 ms; failure and recovery
 *   shelf     all buckets known: gives stock back that is not used, forgets who is idle
 *   store     the statement
 */
export type Counter = {
  /** A leased token or a remembered refusal; undefined where the database must be asked, with `take`. */
  takeNow(projectId: number, name: string): Grant | undefined;
  /** A Fault `server_error` where the database cannot be had. */
  take(projectId: number, name: string): Promise<Grant>;
  /** Gives unused tokens back. */
  close(): Promise<void>;
};

export type CounterDeps = {
  db: Pick<Database, 'prepared' | 'query' | 'clock'>;
  /** For a project that has no row of its own yet. */
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
