/**
 * The audience language. One condition is a subject and exactly one operator; conditions are combined by all, any and not.
 *
 *   { "all": [
 *     { "trait": "plan", "equals": "trial" },
 *     { "user": "email", "ends_with": "@acme.com" },
 *     { "event": "feature_used", "at_least": 3, "within": "7d", "where": [{ "property": "feature", "equals": "export" }] },
 *     { "event": "invoice_paid", "sum": "amount", "at_least": 100, "within": "30d" },
 *     { "event": "login", "last": { "more_than_ago": "14d" } },
 *     { "not": { "audience": "0198…" } }
 *   ] }
 *
 * An event without an operator tests whether it ever occurred; `at_least`, `at_most` or `exactly` how often, `sum` how much, `first` and
 * `last` when. `where` and `sum` read single events and require `within`. `parse.ts` defines all bounds.
 *
 * The types below are the parsed form: durations in milliseconds, moments in milliseconds since the epoch.
 */
export type Predicate =
  | { kind: 'all' | 'any'; of: Predicate[] }
  | { kind: 'not'; of: Predicate }
  | { kind: 'trait'; trait: string; test: ValueTest }
  | { kind: 'user'; field: 'email'; test: ValueTest }
  | {
      kind: 'count';
      event: string;
      compare: 'at_least' | 'at_most' | 'exactly';
      count: number;
      window: EventWindow | null;
    }
  | {
      kind: 'sum';
      event: string;
      property: string;
      compare: NumberCompare;
      than: number;
      window: EventWindow;
    }
  | { kind: 'first' | 'last'; event: string; test: TimeTest }
  | { kind: 'audience'; audienceId: string };

/** Counts only events that occurred after now − withinMs and whose properties pass all tests. */
export type EventWindow = { withinMs: number; where: PropertyTest[] };
/**
 * A property is compared with a literal, and a moment only with a fixed one. If it were compared with now, an event could enter the window
 * without a new event, and no `until` could be computed.
 */
export type PropertyTest = { property: string; test: ValueTest };

export type NumberCompare = 'at_least' | 'at_most' | 'greater_than' | 'less_than';

/**
 * An operator declares the type that it compares. A value of another type fails all of these tests: text is never converted to a number. A
 * missing value fails too; `not` inverts that like any other result.
 */
export type ValueTest =
  | { op: 'is_set' }
  | { op: 'equals'; value: string | number | boolean }
  | { op: 'one_of'; values: (string | number)[] }
  | { op: 'contains' | 'starts_with' | 'ends_with'; text: string }
  | { op: NumberCompare; than: number }
  /** The value is an array that contains this element. */
  | { op: 'includes'; value: string | number | boolean }
  | TimeTest;

/** A test of a moment t: a text that `parseInstant` accepts, or the first or last occurrence of an event. */
export type TimeTest =
  | { op: 'before' | 'after'; at: number }
  /** now − ms < t ≤ now */
  | { op: 'in_last'; ms: number }
  /** t ≤ now − ms */
  | { op: 'more_than_ago'; ms: number }
  /** now < t ≤ now + ms */
  | { op: 'in_next'; ms: number }
  /** now + ms < t */
  | { op: 'more_than_ahead'; ms: number };

/**
 * A question of a predicate about a user's events within a window. Two equal conditions share one question: `key` is equal for both, and
 * different for any two that differ.
 */
export type NthQuery = {
  kind: 'nth';
  key: string;
  event: string;
  window: EventWindow;
  /** The nth newest: "at least 3" needs the third, "at most 3" the fourth. */
  nth: number;
};
export type SumQuery = { kind: 'sum'; key: string; event: string; window: EventWindow; property: string };
export type WindowQuery = NthQuery | SumQuery;

/** The sum of a property's numeric values over the window, and the time of the oldest of those events. */
export type WindowSum = { sum: number; oldestAt: number | null };

/** All facts about one user that a predicate may read. */
export type Facts = {
  now: number;
  email: string | null;
  /** Undefined if it is not set. */
  trait(key: string): unknown;
  /** All occurrences of an event, even if its rows were deleted. */
  total(event: string): { count: number; firstAt: number; lastAt: number } | undefined;
  /** The time of the nth newest event in the window; null if there are fewer. */
  nth(query: NthQuery): number | null;
  sum(query: SumQuery): WindowSum;
  isMember(audienceId: string): boolean;
};

/**
 * `until`: without new facts, the answer does not change before this moment. It may change then, so it must be evaluated again. Null: time
 * alone never changes it.
 */
export type PredicateResult = { matches: boolean; until: number | null };

/** The inputs of a predicate. A change of other facts requires no evaluation. */
export type Mentions = {
  traits: Set<string>;
  email: boolean;
  /** Every named event, with or without a window. */
  events: Set<string>;
  /** Events used without a window: `total`, first, last. */
  totals: Set<string>;
  queries: Map<string, WindowQuery>;
  audiences: Set<string>;
  /** True if time alone can change the answer. */
  timed: boolean;
};

/**
 * The only module that builds questions. An answer is found by the key of its question, so evaluation, mentions and SQL must build the same
 * one.
 */
export type CountNode = Extract<Predicate, { kind: 'count' }>;
export type WindowedCount = CountNode & { window: NonNullable<CountNode['window']> };
export type SumNode = Extract<Predicate, { kind: 'sum' }>;
export type EdgeNode = Extract<Predicate, { kind: 'first' | 'last' }>;

/** The two bounds of a count: it reaches `least` and does not reach `beyond`. Null if there is no such bound. */
type CountBounds = { least: number | null; beyond: number | null };

export function boundsOf({ compare, count }: Pick<CountNode, 'compare' | 'count'>): CountBounds {
  return {
    // Every count is at least 0, so 0 is not a bound.
    least: compare === 'at_most' || count === 0 ? null : count,
    beyond: compare === 'at_least' ? null : count + 1,
  };
}

export function nthQuery(node: WindowedCount, nth: number): NthQuery {
  const { event, window } = node;
  const key = JSON.stringify(['nth', event, window.withinMs, whereKeys(window.where), nth]);
  return { kind: 'nth', key, event, window, nth };
}

export function sumQuery(node: SumNode): SumQuery {
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
