import { compareNumbers, testMoment, testValue } from './compare.ts';
import {
  type PredicateResult,
  boundsOf,
  type CountNode,
  type EdgeNode,
  type Facts,
  type NthQuery,
  nthQuery,
  type Predicate,
  type SumNode,
  sumQuery,
  type WindowedCount,
} from './predicate.ts';
import { type AudienceNames, sentenceOf } from './sentence.ts';
import { isoOrNull } from '../time/clock.ts';

/** Evaluates a predicate for one user, and returns how long the answer is certain. It reads only `facts` and changes nothing. */
export function evaluate(predicate: Predicate, facts: Facts): PredicateResult {
  switch (predicate.kind) {
    case 'all':
      return conjunction(predicate.of.map((child) => evaluate(child, facts)));
    case 'any':
      return negation(conjunction(predicate.of.map((child) => negation(evaluate(child, facts)))));
    case 'not':
      return negation(evaluate(predicate.of, facts));
    case 'trait':
      return testValue(predicate.test, facts.trait(predicate.trait), facts.now);
    case 'user':
      return testValue(predicate.test, facts.email, facts.now);
    case 'count':
      return evaluateCount(predicate, facts);
    case 'sum':
      return evaluateSum(predicate, facts);
    case 'first':
    case 'last':
      return evaluateEdge(predicate, facts);
    case 'audience':
      return { matches: facts.isMember(predicate.audienceId), until: null };
    default:
      return predicate satisfies never;
  }
}

/** False lasts at least as long as one false part. True lasts only as long as all parts are true. */
function conjunction(results: PredicateResult[]): PredicateResult {
  let trueUntil = Number.POSITIVE_INFINITY;
  let falseUntil: number | null = null;
  for (const result of results) {
    if (result.matches) trueUntil = Math.min(trueUntil, untilOf(result));
    else falseUntil = Math.max(falseUntil ?? Number.NEGATIVE_INFINITY, untilOf(result));
  }
  if (falseUntil !== null) return { matches: false, until: momentOf(falseUntil) };
  return { matches: true, until: momentOf(trueUntil) };
}

function negation({ matches, until }: PredicateResult): PredicateResult {
  return { matches: !matches, until };
}

function untilOf({ until }: PredicateResult): number {
  return until ?? Number.POSITIVE_INFINITY;
}

function momentOf(until: number): number | null {
  return until === Number.POSITIVE_INFINITY ? null : until;
}

function evaluateEdge({ kind, event, test }: EdgeNode, facts: Facts): PredicateResult {
  const total = facts.total(event);
  if (!total) return { matches: false, until: null };
  return testMoment(test, kind === 'first' ? total.firstAt : total.lastAt, facts.now);
}

function evaluateCount(node: CountNode, facts: Facts): PredicateResult {
  const reaches =
    node.window === null
      ? reachesInAll(node, facts)
      : reachesInWindow({ ...node, window: node.window }, facts);
  const { least, beyond } = boundsOf(node);
  const parts: PredicateResult[] = [];
  if (least !== null) parts.push(reaches(least));
  if (beyond !== null) parts.push(negation(reaches(beyond)));
  return conjunction(parts);
}

function reachesInAll(node: CountNode, facts: Facts): (nth: number) => PredicateResult {
  const count = facts.total(node.event)?.count ?? 0;
  return (nth) => ({ matches: count >= nth, until: null });
}

/** Time alone only removes events from a window. An event enters only when it is new. */
function reachesInWindow(node: WindowedCount, facts: Facts): (nth: number) => PredicateResult {
  return (nth) => {
    const query: NthQuery = nthQuery(node, nth);
    const at = facts.nth(query);
    return at === null
      ? { matches: false, until: null }
      : { matches: true, until: at + node.window.withinMs };
  };
}

function evaluateSum(node: SumNode, facts: Facts): PredicateResult {
  const { sum, oldestAt } = facts.sum(sumQuery(node));
  return {
    matches: compareNumbers(node.compare, sum, node.than),
    until: oldestAt === null ? null : oldestAt + node.window.withinMs,
  };
}

export type Explained = {
  sentence: string;
  holds: boolean;
  /** The end of certainty; null if time alone never changes the answer. */
  until: string | null;
  conditions?: Explained[];
};

/** Returns the answer for one user, and for each group the answers that it consists of. */
export function explain(predicate: Predicate, facts: Facts, names: AudienceNames): Explained {
  const { matches, until } = evaluate(predicate, facts);
  const explained = {
    sentence: sentenceOf(predicate, names),
    holds: matches,
    until: isoOrNull(until),
  };
  const parts = partsOf(predicate);
  return parts.length === 0
    ? explained
    : { ...explained, conditions: parts.map((part) => explain(part, facts, names)) };
}

/** A negated single condition has its own sentence. A negated group is explained by the group. */
function partsOf(predicate: Predicate): Predicate[] {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.of;
  if (predicate.kind !== 'not') return [];
  return partsOf(predicate.of).length > 0 ? [predicate.of] : [];
}
