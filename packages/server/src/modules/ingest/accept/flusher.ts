import { Fault } from '../../../platform/fault.ts';
import { COMMIT_WITHIN_MS, type Committer, type CommitResult, unavailable } from './committer.ts';
import { type IngestEntry, onceName } from './entry.ts';
import type { IngestEntryResult } from './flush.ts';

/**
 * Group commit. Entries wait while flushes are in flight and are sent together in the next one; an idle flusher sends at once. Flushes
 * share one connection, so they are decided in the order in which they were sent.
 *
 * Two entries with one Idempotency-Key never share a flush. The later one waits for the earlier (`followers`). Once that one is committed,
 * the later one either gets the result `lost` or is queued itself.
 */
export type Flusher = {
  accept(entry: IngestEntry): Promise<IngestEntryResult>;
  /** Resolves when the pending entry with this name, if any, is decided. */
  settled(name: string): Promise<void>;
  /** Resolves when everything accepted so far is decided. */
  drain(): Promise<void>;
};

export type FlusherLimits = {
  requests: number;
  bytes: number;
  /** A flush holds the entries of one project. It takes two round trips, so the next one is sent after it. */
  isPerProject?: boolean;
};

type PendingEntry = {
  entry: IngestEntry;
  name: string | null;
  since: number;
  followers: PendingEntry[];
  settle: Settle;
};
type Settle = { resolve: (result: IngestEntryResult) => void; reject: (error: unknown) => void };
type State = {
  committer: Committer;
  limits: FlusherLimits;
  queue: PendingEntry[];
  /** The pending entry for each Idempotency-Key, by name. */
  pending: Map<string, PendingEntry>;
  inFlight: PendingEntry[][];
  /** True if `send` is already scheduled for this turn of the event loop. */
  called: boolean;
  /** A small flush waits for more entries until this time. */
  gatherUntil: number;
  timer: NodeJS.Timeout | null;
  drains: (() => void)[];
};

/** One flush that the database works on, and one queued behind it. */
const IN_FLIGHT_MAX = 2;
const GATHER_MS = 2;
const GATHER_UP_TO_REQUESTS = 8;
const GATHER_AFTER_REQUESTS = 8;

export function createFlusher(committer: Committer, limits: FlusherLimits): Flusher {
  const state: State = {
    committer,
    limits,
    queue: [],
    pending: new Map(),
    inFlight: [],
    called: false,
    gatherUntil: 0,
    timer: null,
    drains: [],
  };
  return {
    accept: (entry) =>
      new Promise((resolve, reject) => {
        const name = entry.once ? onceName(entry.key.projectId, entry.once.key) : null;
        enqueue(state, { entry, name, since: performance.now(), followers: [], settle: { resolve, reject } });
      }),
    settled: (name) => new Promise((resolve) => whenSettled(state.pending.get(name), resolve)),
    drain: () =>
      new Promise((resolve) => {
        if (state.queue.length === 0 && state.inFlight.length === 0) resolve();
        else state.drains.push(resolve);
      }),
  };
}

function enqueue(state: State, waiting: PendingEntry): void {
  const first = waiting.name === null ? undefined : state.pending.get(waiting.name);
  if (first) {
    first.followers.push(waiting);
    return;
  }
  if (waiting.name !== null) state.pending.set(waiting.name, waiting);
  state.queue.push(waiting);
  if (state.called) return;
  state.called = true;
  // Runs in the next turn of the event loop, so that everything the sockets deliver in this turn shares a flush.
  setImmediate(() => {
    state.called = false;
    send(state);
  });
}

/**
 * Decides when a flush is sent. It is sent at once if none is in flight. Behind one in flight, it is sent as soon as the queue holds as
 * many entries as that one. The database then always has its next work, and flushes do not become small for it.
 *
 * A flush costs PostgreSQL about 400 µs whatever its size. With many callers (the last flush was not small), the next flush waits for eight
 * entries, for two milliseconds at most. With few callers there is no wait.
 */
function send(state: State): void {
  const most = state.limits.isPerProject ? 1 : IN_FLIGHT_MAX;
  for (;;) {
    const { queue, inFlight } = state;
    const [first] = inFlight;
    if (queue.length === 0 || inFlight.length === most || (first && queue.length < first.length)) return;
    const now = performance.now();
    const restMs = state.gatherUntil - now;
    if (queue.length < GATHER_UP_TO_REQUESTS && restMs > 0) return callLater(state, restMs);
    const batch = takeBatch(queue, state.limits);
    state.gatherUntil = batch.length >= GATHER_AFTER_REQUESTS ? now + GATHER_MS : 0;
    inFlight.push(batch);
    void decideInTime(state, batch).then((results) => arrive(state, batch, results));
  }
}

function callLater(state: State, ms: number): void {
  if (state.timer) return;
  state.timer = setTimeout(() => {
    state.timer = null;
    send(state);
  }, ms);
}

/** Sends the next flush before writing these answers, so that the database works while the callers are answered. */
function arrive(state: State, batch: PendingEntry[], results: CommitResult[]): void {
  state.inFlight = state.inFlight.filter((other) => other !== batch);
  send(state);
  for (const [i, waiting] of batch.entries()) finish(state, waiting, results[i] ?? NO_RESULT);
  if (state.inFlight.length > 0 || state.queue.length > 0) return;
  state.committer.releaseIdle();
  for (const drained of state.drains.splice(0)) drained();
}

/** Gives a whole batch the time limit of its oldest entry, so that no entry waits too long for a database that hangs. */
function decideInTime({ committer }: State, batch: PendingEntry[]): Promise<CommitResult[]> {
  const oldest = batch.reduce((since, waiting) => Math.min(since, waiting.since), Number.POSITIVE_INFINITY);
  const until = oldest + COMMIT_WITHIN_MS;
  if (performance.now() < until)
    return committer.decide(
      batch.map(({ entry }) => entry),
      until,
    );
  return Promise.resolve(batch.map(() => ({ ok: false, error: unavailable('waited too long') })));
}

function finish(state: State, waiting: PendingEntry, result: CommitResult): void {
  if (waiting.name !== null) state.pending.delete(waiting.name);
  if (result.ok) waiting.settle.resolve(result.value);
  else waiting.settle.reject(result.error);
  for (const follower of waiting.followers) {
    const followerResult = resultOfFollower(waiting.entry, follower.entry, result);
    if (followerResult === 'requeue') enqueue(state, follower);
    else if (followerResult.ok) follower.settle.resolve(followerResult.value);
    else follower.settle.reject(followerResult.error);
  }
}

/**
 * Decides for a follower once the first entry is decided. It has lost if the first entry was stored with the same API key. With another API
 * key, or if the database rejected the first entry, it is queued itself. A `Fault`, such as an unavailable database, applies to both.
 */
function resultOfFollower(
  first: IngestEntry,
  follower: IngestEntry,
  result: CommitResult,
): CommitResult | 'requeue' {
  if (!result.ok) return result.error instanceof Fault ? result : 'requeue';
  const lost = result.value.state === 'stored' && first.key.id === follower.key.id;
  return lost ? { ok: true, value: { state: 'lost' } } : 'requeue';
}

function whenSettled(waiting: PendingEntry | undefined, then: () => void): void {
  if (!waiting) return then();
  const { resolve, reject } = waiting.settle;
  waiting.settle = {
    resolve: (result) => (resolve(result), then()),
    reject: (error) => (reject(error), then()),
  };
}

const NO_RESULT: CommitResult = {
  ok: false,
  error: new Error('a flush returned fewer results than entries'),
};

function takeBatch(queue: PendingEntry[], limits: FlusherLimits): PendingEntry[] {
  let bytes = 0;
  let count = 0;
  if (limits.isPerProject) bringFirstProjectForward(queue, limits.requests);
  for (const { entry } of queue) {
    bytes += entry.parts.length;
    if (count > 0 && (count === limits.requests || bytes > limits.bytes)) break;
    if (limits.isPerProject && entry.key.projectId !== queue[0]?.entry.key.projectId) break;
    count += 1;
  }
  return queue.splice(0, count);
}

/** Moves entries of the first entry's project to the front, in order, up to a full flush. */
function bringFirstProjectForward(queue: PendingEntry[], most: number): void {
  const projectId = queue[0]?.entry.key.projectId;
  const isFirst: PendingEntry[] = [];
  const others: PendingEntry[] = [];
  for (const waiting of queue) {
    if (waiting.entry.key.projectId === projectId && isFirst.length < most) isFirst.push(waiting);
    else others.push(waiting);
  }
  queue.splice(0, queue.length, ...isFirst, ...others);
}
