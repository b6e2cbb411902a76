import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import {
  type Bucket,
  type Grant,
  isFresh,
  isIdle,
  LEASE_MS,
  newBucket,
  retire,
  runsLow,
  takeNow,
} from './bucket.ts';
import { systemTimer, type TimerScheduler } from './timer.ts';
import { createTokenRequester } from './token-requester.ts';
import type { Clock } from '../time/clock.ts';

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

type CounterDeps = {
  db: Pick<Database, 'prepared' | 'query' | 'clock'>;
  /** For a project that does not have a row yet. */
  defaults: Record<string, { rate: number; burst: number }>;
  log: Log;
  timer?: TimerScheduler;
};

export function createCounter(deps: CounterDeps): Counter {
  const timer = deps.timer ?? systemTimer;
  const { clock } = deps.db;
  const shelf = createShelf({ clock, timer, giveBack: (bucket) => asker.request(bucket) });
  const asker = createTokenRequester({
    ...deps,
    timer,
    settled: (buckets, now) => shelf.settled(buckets, now),
  });
  let closing: Promise<void> | null = null;

  function tryTake(bucket: Bucket, now: number): Grant | undefined {
    const grant = takeNow(bucket, now);
    if (grant?.ok && runsLow(bucket, now)) asker.request(bucket);
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

/** All buckets of this process, found by number, without building a text for each request. */
type Shelf = {
  find(projectId: number, name: string): Bucket | undefined;
  add(bucket: Bucket): Bucket;
  /** Must be called with every answer, because both lists are in the order of answers. */
  settled(buckets: Bucket[], now: number): void;
  /** Empties the shelf and returns its buckets. */
  clear(): Bucket[];
};

type ShelfDeps = { clock: Clock; timer: TimerScheduler; giveBack(bucket: Bucket): void };

const IDLE_MS = 10_000;
/** About 300 bytes each. Beyond the bound the bucket with the oldest answer is dropped early, which costs it one more query. */
const BUCKETS_MAX = 100_000;

type State = {
  byName: Map<string, Map<number, Bucket>>;
  /** In the order of their last answer. */
  buckets: Set<Bucket>;
  /** Buckets with a stock, in the order of their last answer, which is the order in which the stock retires. */
  holding: Set<Bucket>;
  cancel: (() => void) | null;
};

export function createShelf(deps: ShelfDeps): Shelf {
  const state: State = { byName: new Map(), buckets: new Set(), holding: new Set(), cancel: null };
  return {
    find: (projectId, name) => state.byName.get(name)?.get(projectId),
    add(bucket) {
      const projects = state.byName.get(bucket.name) ?? new Map<number, Bucket>();
      state.byName.set(bucket.name, projects.set(bucket.projectId, bucket));
      state.buckets.add(bucket);
      return bucket;
    },
    settled(buckets, now) {
      for (const bucket of buckets) {
        moveToEnd(state.buckets, bucket);
        if (bucket.stock > 0) moveToEnd(state.holding, bucket);
        else state.holding.delete(bucket);
      }
      forgetIdle(state, now);
      watch(state, deps);
    },
    clear() {
      state.cancel?.();
      const all = [...state.buckets];
      state.byName.clear();
      state.buckets.clear();
      state.holding.clear();
      return all;
    },
  };
}

function moveToEnd(set: Set<Bucket>, bucket: Bucket): void {
  set.delete(bucket);
  set.add(bucket);
}

function forgetIdle(state: State, now: number): void {
  for (const bucket of state.buckets) {
    if (now - bucket.learntAt < IDLE_MS && state.buckets.size <= BUCKETS_MAX) return;
    if (!isIdle(bucket)) continue;
    state.buckets.delete(bucket);
    state.byName.get(bucket.name)?.delete(bucket.projectId);
  }
}

/** Runs one timer, for the stock that retires first. */
function watch(state: State, deps: ShelfDeps): void {
  const [first] = state.holding;
  if (!first || state.cancel) return;
  const wait = first.learntAt + LEASE_MS - deps.clock.now();
  state.cancel = deps.timer.after(Math.max(1, Math.min(LEASE_MS, wait)), () => {
    state.cancel = null;
    const now = deps.clock.now();
    for (const bucket of state.holding) {
      if (isFresh(bucket, now)) break;
      state.holding.delete(bucket);
      retire(bucket);
      if (bucket.back > 0) deps.giveBack(bucket);
    }
    watch(state, deps);
  });
}
