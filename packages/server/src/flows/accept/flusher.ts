import { Fault } from '../../base/fault.ts';
import { COMMIT_WITHIN_MS, type Committer, type Result, unavailable } from './committer.ts';
import { type Entry, onceName } from './entry.ts';
import type { Fate } from './flush.ts';

/**
 * Group commit. Entries wait for the flush in progress and leave together with the next one; an idle flusher leaves at
 * once. One flush at a time, so two processes meet on a lane at most once per round trip.
 *
 * Two entries with one Idempotency-Key never share a flush: the later one follows the earlier (`followers`) and, once
 * that is committed, either hears that it lost or takes its own turn.
 */
export type Flusher = {
  accept(entry: Entry): Promise<Fate>;
  /** Resolves when the entry now under way with this name, if any, is decided. */
  settled(name: string): Promise<void>;
  /** Everything accepted so far is decided. */
  drain(): Promise<void>;
};

export type FlusherLimits = { requests: number; bytes: number };

type Waiting = { entry: Entry; name: string | null; since: number; followers: Waiting[]; settle: Settle };
type Settle = { resolve: (fate: Fate) => void; reject: (error: unknown) => void };
type State = {
  committer: Committer;
  limits: FlusherLimits;
  queue: Waiting[];
  /** Whoever holds an Idempotency-Key right now, by its name. */
  pending: Map<string, Waiting>;
  running: Promise<void> | null;
};

export function createFlusher(committer: Committer, limits: FlusherLimits): Flusher {
  const state: State = { committer, limits, queue: [], pending: new Map(), running: null };
  return {
    accept: (entry) =>
      new Promise((resolve, reject) => {
        const name = entry.once ? onceName(entry.key.projectId, entry.once.key) : null;
        enqueue(state, { entry, name, since: performance.now(), followers: [], settle: { resolve, reject } });
      }),
    settled: (name) => new Promise((resolve) => whenSettled(state.pending.get(name), resolve)),
    drain: async () => {
      while (state.running) await state.running;
    },
  };
}

function enqueue(state: State, waiting: Waiting): void {
  const first = waiting.name === null ? undefined : state.pending.get(waiting.name);
  if (first) {
    first.followers.push(waiting);
    return;
  }
  if (waiting.name !== null) state.pending.set(waiting.name, waiting);
  state.queue.push(waiting);
  // In the next turn of the loop: whatever the sockets bring in this one leaves together.
  state.running ??= new Promise((resolve) => {
    setImmediate(() => {
      void run(state).then(resolve);
    });
  });
}

/** The next flush leaves before the last one's answers are written: the database works while we talk to the callers. */
async function run(state: State): Promise<void> {
  let decided: Decided = { batch: [], results: [] };
  while (state.queue.length > 0 || decided.batch.length > 0) {
    const batch = takeBatch(state.queue, state.limits);
    const deciding = batch.length > 0 ? decideInTime(state, batch) : [];
    for (const [i, waiting] of decided.batch.entries()) finish(state, waiting, decided.results[i] ?? LOST);
    decided = { batch, results: await deciding };
  }
  state.running = null;
  state.committer.rest();
}

type Decided = { batch: Waiting[]; results: Result[] };

/** Behind a database that hangs nobody waits once more for each flush in front of him. */
function decideInTime({ committer }: State, batch: Waiting[]): Promise<Result[]> {
  const oldest = batch[0]?.since ?? 0;
  if (performance.now() - oldest <= COMMIT_WITHIN_MS)
    return committer.decide(batch.map(({ entry }) => entry));
  return Promise.resolve(batch.map(() => ({ ok: false, error: unavailable('waited too long') })));
}

function finish(state: State, waiting: Waiting, result: Result): void {
  if (waiting.name !== null) state.pending.delete(waiting.name);
  if (result.ok) waiting.settle.resolve(result.fate);
  else waiting.settle.reject(result.error);
  for (const follower of waiting.followers) {
    const heard = hear(waiting.entry, follower.entry, result);
    if (heard === 'own turn') enqueue(state, follower);
    else if (heard.ok) follower.settle.resolve(heard.fate);
    else follower.settle.reject(heard.error);
  }
}

/** A follower has lost to a first that was stored; with another API key, or after a first that was refused, it asks itself. */
function hear(first: Entry, follower: Entry, result: Result): Result | 'own turn' {
  if (!result.ok) return result.error instanceof Fault ? result : 'own turn';
  const lost = result.fate.state === 'stored' && first.key.id === follower.key.id;
  return lost ? { ok: true, fate: { state: 'lost' } } : 'own turn';
}

function whenSettled(waiting: Waiting | undefined, then: () => void): void {
  if (!waiting) return then();
  const { resolve, reject } = waiting.settle;
  waiting.settle = {
    resolve: (fate) => (resolve(fate), then()),
    reject: (error) => (reject(error), then()),
  };
}

const LOST: Result = { ok: false, error: new Error('a flush gave fewer fates than entries') };

function takeBatch(queue: Waiting[], limits: FlusherLimits): Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const { entry } of queue) {
    bytes += entry.parts.length;
    if (count > 0 && (count === limits.requests || bytes > limits.bytes)) break;
    count += 1;
  }
  return queue.splice(0, count);
}
