import type { NthQuestion, Predicate, PropertyTest, SumQuestion, ValueTest } from './predicate.ts';

/**
 * The only module that builds questions. An answer is found by the key of its question, so evaluation, mentions and SQL must build the same
 * one.
 */
export type CountNode = Extract<Predicate, { kind: 'count' }>;
export type WindowedCount = CountNode & { window: NonNullable<CountNode['window']> };
export type SumNode = Extract<Predicate, { kind: 'sum' }>;
export type EdgeNode = Extract<Predicate, { kind: 'first' | 'last' }>;

/** The two bounds of a count: it reaches `least` and does not reach `beyond`. Null if there is no such bound. */
export type CountBounds = { least: number | null; beyond: number | null };

export function boundsOf({ compare, count }: Pick<CountNode, 'compare' | 'count'>): CountBounds {
  return {
    // Every count is at least 0, so 0 is not a bound.
    least: compare === 'at_most' || count === 0 ? null : count,
    beyond: compare === 'at_least' ? null : count + 1,
  };
}

export function nthQuestion(node: WindowedCount, nth: number): NthQuestion {
  const { event, window } = node;
  const key = JSON.stringify(['nth', event, window.withinMs, whereKeys(window.where), nth]);
  return { kind: 'nth', key, event, window, nth };
}

export function sumQuestion(node: SumNode): SumQuestion {
  const { event, window, property } = node;
  const key = JSON.stringify(['sum', event, window.withinMs, whereKeys(window.where), property]);
  return { kind: 'sum', key, event, window, property };
}

/** An event must pass all tests, regardless of their order. */
function whereKeys(where: PropertyTest[]): string[] {
  return where.map(({ property, test }) => JSON.stringify([property, test.op, operandOf(test)])).toSorted();
}

function operandOf(test: ValueTest): unknown {
  if ('value' in test) return test.value;
  if ('values' in test) return test.values;
  if ('text' in test) return test.text;
  if ('than' in test) return test.than;
  if ('at' in test) return test.at;
  return 'ms' in test ? test.ms : null;
}
