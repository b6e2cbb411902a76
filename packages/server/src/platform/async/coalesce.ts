import { within } from '../time/within.ts';

/**
 * Concurrent questions share one answer, but never an answer that began before the question: during a round, new questions gather for the
 * next. So every answer is newer than its question.
 */
export type Coalesced<Q, A> = (query: Q) => Promise<A>;

export type CoalesceOptions<Q, A> = {
  /** Answers in the order of the questions, which are distinct by `keyOf`. */
  load(queries: Q[]): Promise<A[]>;
  keyOf(query: Q): string;
  /** Distinct questions in one round; the others wait for the next. */
  roundMax: number;
  /** A round that takes longer rejects its questions and no longer delays the next round. */
  timeLimitMs: number;
};

type PendingQuery<Q, A> = { query: Q; result: Promise<A>; settle: PromiseWithResolvers<A> };

export function coalesce<Q, A>(options: CoalesceOptions<Q, A>): Coalesced<Q, A> {
  const pending = new Map<string, PendingQuery<Q, A>>();
  let isRunning = false;

  async function run(): Promise<void> {
    while (pending.size > 0) {
      const round = takeFirst(pending, options.roundMax);
      try {
        const queries = round.map((entry) => entry.query);
        const results = await within(options.load(queries), options.timeLimitMs);
        for (const [i, entry] of round.entries()) entry.settle.resolve(results[i] as A);
      } catch (error) {
        for (const entry of round) entry.settle.reject(error);
      }
    }
    isRunning = false;
  }

  return function load(query) {
    const key = options.keyOf(query);
    const existing = pending.get(key);
    if (existing) return existing.result;
    const settle = Promise.withResolvers<A>();
    pending.set(key, { query, result: settle.promise, settle });
    if (!isRunning) {
      isRunning = true;
      // Deferred, so that questions of the same turn of the event loop share the round.
      queueMicrotask(() => void run());
    }
    return settle.promise;
  };
}

function takeFirst<K, V>(map: Map<K, V>, max: number): V[] {
  const first: V[] = [];
  for (const [key, value] of map) {
    if (first.length === max) break;
    map.delete(key);
    first.push(value);
  }
  return first;
}
