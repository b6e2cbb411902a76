import { within } from '../time/within.ts';

/**
 * Concurrent questions share one answer, but never an answer that began before the question: during a round, new questions gather for the
 * next. So every answer is newer than its question.
 */
export type Coalesced<Q, A> = (question: Q) => Promise<A>;

export type CoalesceOptions<Q, A> = {
  /** Answers in the order of the questions, which are distinct by `keyOf`. */
  answer(questions: Q[]): Promise<A[]>;
  keyOf(question: Q): string;
  /** Distinct questions in one round; the others wait for the next. */
  roundMax: number;
  /** A round that takes longer rejects its questions and no longer delays the next round. */
  timeLimitMs: number;
};

type Asked<Q, A> = { question: Q; answer: Promise<A>; settle: PromiseWithResolvers<A> };

export function coalesce<Q, A>(options: CoalesceOptions<Q, A>): Coalesced<Q, A> {
  const gathering = new Map<string, Asked<Q, A>>();
  let underWay = false;

  async function run(): Promise<void> {
    while (gathering.size > 0) {
      const round = takeFirst(gathering, options.roundMax);
      try {
        const questions = round.map((asked) => asked.question);
        const answers = await within(options.answer(questions), options.timeLimitMs);
        for (const [i, asked] of round.entries()) asked.settle.resolve(answers[i] as A);
      } catch (error) {
        for (const asked of round) asked.settle.reject(error);
      }
    }
    underWay = false;
  }

  return function ask(question) {
    const key = options.keyOf(question);
    const already = gathering.get(key);
    if (already) return already.answer;
    const settle = Promise.withResolvers<A>();
    gathering.set(key, { question, answer: settle.promise, settle });
    if (!underWay) {
      underWay = true;
      // Deferred, so that questions of the same turn of the event loop share the round.
      queueMicrotask(() => void run());
    }
    return settle.promise;
  };
}

function takeFirst<K, V>(map: Map<K, V>, max: number): V[] {
  const taken: V[] = [];
  for (const [key, value] of map) {
    if (taken.length === max) break;
    map.delete(key);
    taken.push(value);
  }
  return taken;
}
