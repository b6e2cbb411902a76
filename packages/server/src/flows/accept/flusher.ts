import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import { type Database, isCollision, isRefusedData, type Session } from '../../io/db/index.ts';
import { type Entry, type Lane, onceName, type Verdict } from './entry.ts';
import { flush, type FlushOptions } from './flush.ts';

/**
 * Group commit. Entries wait for the flush in progress and leave together with the next one; an idle flusher leaves at
 * once. One flush at a time, so two processes meet on a lane at most once per round trip.
 *
 * Two entries with one Idempotency-Key never share a flush: the later one follows the earlier (`followers`) and, once
 * that is committed, either hears its answer or takes its own turn.
 */
export type Flusher = {
  accept(entry: Entry): Promise<Verdict>;
  /** Resolves when the entry now under way with this name, if any, has its verdict. */
  settled(name: string): Promise<void>;
  /** Everything accepted so far is decided. */
  drain(): Promise<void>;
};

export type FlusherOptions = {
  db: Database;
  log: Log;
  lane: Lane;
  limits: { requests: number; bytes: number };
  onFlush?: (facts: { lane: Lane; requests: number; records: number; ms: number }) => void;
  beforeCommit?: () => Promise<void>;
};

type Waiting = { entry: Entry; name: string | null; since: number; followers: Waiting[]; settle: Settle };
type Settle = { resolve: (verdict: Verdict) => void; reject: (error: unknown) => void };
type State = {
  options: FlusherOptions;
  queue: Waiting[];
  /** Whoever holds an Idempotency-Key right now, by its name. */
  pending: Map<string, Waiting>;
  running: Promise<void> | null;
};

/** Longer than any healthy commit; whoever waits longer may come back with the same Idempotency-Key. */
const COMMIT_WITHIN_MS = 5_000;
const COLLISIONS_MAX = 3;
const RETRY_AFTER_S = 1;

export function createFlusher(options: FlusherOptions): Flusher {
  const state: State = { options, queue: [], pending: new Map(), running: null };
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

async function run(state: State): Promise<void> {
  while (state.queue.length > 0) {
    const batch = takeBatch(state.queue, state.options.limits);
    const results = await decide(batch, state.options);
    for (const [i, waiting] of batch.entries()) finish(state, waiting, results[i] ?? LOST);
  }
  state.running = null;
}

function finish(state: State, waiting: Waiting, result: Result): void {
  if (waiting.name !== null) state.pending.delete(waiting.name);
  if (result.ok) waiting.settle.resolve(result.verdict);
  else waiting.settle.reject(result.error);
  for (const follower of waiting.followers) {
    const heard = hear(waiting.entry, follower.entry, result);
    if (heard === 'own turn') enqueue(state, follower);
    else if (heard.ok) follower.settle.resolve(heard.verdict);
    else follower.settle.reject(heard.error);
  }
}

/** What a follower may conclude from the fate of the first; with another API key, or another body refused, it asks itself. */
function hear(first: Entry, follower: Entry, result: Result): Result | 'own turn' {
  if (!result.ok) return result.error instanceof Fault ? result : 'own turn';
  if (result.verdict.state !== 'stored' || first.key.id !== follower.key.id) return 'own turn';
  const same = first.once && follower.once?.fingerprint.equals(first.once.fingerprint);
  return { ok: true, verdict: same ? { state: 'replayed', reply: first.reply } : { state: 'reused' } };
}

function whenSettled(waiting: Waiting | undefined, then: () => void): void {
  if (!waiting) return then();
  const { resolve, reject } = waiting.settle;
  waiting.settle = {
    resolve: (verdict) => (resolve(verdict), then()),
    reject: (error) => (reject(error), then()),
  };
}

type Result = { ok: true; verdict: Verdict } | { ok: false; error: unknown };
const LOST: Result = { ok: false, error: new Error('a flush gave fewer verdicts than entries') };

function takeBatch(queue: Waiting[], limits: FlusherOptions['limits']): Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const { entry } of queue) {
    bytes += entry.parts.length;
    if (count > 0 && (count === limits.requests || bytes > limits.bytes)) break;
    count += 1;
  }
  return queue.splice(0, count);
}

async function decide(batch: Waiting[], options: FlusherOptions): Promise<Result[]> {
  const entries = batch.map((waiting) => waiting.entry);
  try {
    // A database that hangs must not make those behind it wait once more for each flush in front of them.
    if (batch[0] && performance.now() - batch[0].since > COMMIT_WITHIN_MS)
      throw new TooLate('waited too long');
    const verdicts = await commit(entries, options);
    return verdicts.map((verdict) => ({ ok: true, verdict }));
  } catch (error) {
    if (!isRefusedData(error)) return entries.map(() => ({ ok: false, error: unavailable(error) }));
    if (batch.length === 1)
      return [{ ok: false, error: new Error('the database refused a record', { cause: error }) }];
    // One of them holds what the database refuses. Each by itself, and only that one fails.
    const results: Result[] = [];
    for (const waiting of batch) results.push(...(await decide([waiting], options)));
    return results;
  }
}

async function commit(entries: Entry[], options: FlusherOptions): Promise<Verdict[]> {
  for (let collisions = 0; ; collisions += 1) {
    try {
      return await commitOnce(entries, options);
    } catch (error) {
      if (!isCollision(error) || collisions === COLLISIONS_MAX) throw error;
      options.log.warn({ err: error, lane: options.lane }, 'flush.collided');
    }
  }
}

async function commitOnce(entries: Entry[], options: FlusherOptions): Promise<Verdict[]> {
  const startedAt = performance.now();
  const session = await options.db.session();
  let verdicts: Verdict[];
  try {
    verdicts = await within(flush(session, entries, flushOptions(options)), COMMIT_WITHIN_MS);
  } catch (error) {
    await abandon(session, error);
    throw error;
  }
  session.release();
  report(entries, performance.now() - startedAt, options);
  return verdicts;
}

function flushOptions({ db, lane, beforeCommit }: FlusherOptions): FlushOptions {
  return { now: db.clock.now(), lane, ...(beforeCommit && { beforeCommit }) };
}

class TooLate extends Error {}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`no commit within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** A connection that may still be busy, or in a transaction of unknown state, is closed and not handed on. */
async function abandon(session: Session, error: unknown): Promise<void> {
  if (!isRefusedData(error) && !isCollision(error)) return session.release(true);
  await session.script('ROLLBACK').then(
    () => session.release(),
    () => session.release(true),
  );
}

function unavailable(cause: unknown): Fault {
  return new Fault('server_error', { retryAfterS: RETRY_AFTER_S, cause });
}

function report(entries: Entry[], ms: number, { lane, log, onFlush }: FlusherOptions): void {
  const records = entries.reduce((sum, entry) => sum + entry.records, 0);
  log.info({ lane, requests: entries.length, records, ms: Math.round(ms * 10) / 10 }, 'records.accepted');
  onFlush?.({ lane, requests: entries.length, records, ms });
}
