import type { Clock } from '../time/clock.ts';
import { type Bucket, isFresh, isIdle, LEASE_MS, retire } from './bucket.ts';
import type { Timer } from './timer.ts';

/** All buckets of this process, found by number, without building a text for each request. */
export type Shelf = {
  find(projectId: number, name: string): Bucket | undefined;
  add(bucket: Bucket): Bucket;
  /** Must be called with every answer, because both lists are in the order of answers. */
  settled(buckets: Bucket[], now: number): void;
  /** Empties the shelf and returns its buckets. */
  clear(): Bucket[];
};

export type ShelfDeps = { clock: Clock; timer: Timer; giveBack(bucket: Bucket): void };

const IDLE_MS = 10_000;
/** About 300 bytes each. Beyond the bound the bucket with the oldest answer is dropped early, which costs it one more query. */
const BUCKETS_MAX = 100_000;

type State = {
  byName: Map<string, Map<number, Bucket>>;
  /** In the order of their last answer. */
  known: Set<Bucket>;
  /** Buckets with a stock, in the order of their last answer, which is the order in which the stock retires. */
  holding: Set<Bucket>;
  cancel: (() => void) | null;
};

export function createShelf(deps: ShelfDeps): Shelf {
  const state: State = { byName: new Map(), known: new Set(), holding: new Set(), cancel: null };
  return {
    find: (projectId, name) => state.byName.get(name)?.get(projectId),
    add(bucket) {
      const projects = state.byName.get(bucket.name) ?? new Map<number, Bucket>();
      state.byName.set(bucket.name, projects.set(bucket.projectId, bucket));
      state.known.add(bucket);
      return bucket;
    },
    settled(buckets, now) {
      for (const bucket of buckets) {
        moveToEnd(state.known, bucket);
        if (bucket.stock > 0) moveToEnd(state.holding, bucket);
        else state.holding.delete(bucket);
      }
      forgetIdle(state, now);
      watch(state, deps);
    },
    clear() {
      state.cancel?.();
      const all = [...state.known];
      state.byName.clear();
      state.known.clear();
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
  for (const bucket of state.known) {
    if (now - bucket.learntAt < IDLE_MS && state.known.size <= BUCKETS_MAX) return;
    if (!isIdle(bucket)) continue;
    state.known.delete(bucket);
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
