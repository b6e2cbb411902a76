import { within } from './within.ts';

/**
 * Many who ask at once share one answer, but never one whose work began before they asked: while a round is under way,
 * newcomers gather for the next. So an answer is always about a moment after its question.
 */
export type Coalesced<Q, A> = (question: Q) => Promise<A>;

export type CoalesceOptions<Q, A> = {
  /** Answers in the order of the questions, which are distinct by `keyOf`. */
  answer(questions: Q[]): Promise<A[]>;
  keyOf(question: Q): string;
  /** Distinct questions of one round; the others wait for the next. */
  roundMax: number;
  /** A round that takes longer fails those who asked and no longer holds up the next. */
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
      // Not at once: those who ask in the same turn of the event loop leave together.
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
