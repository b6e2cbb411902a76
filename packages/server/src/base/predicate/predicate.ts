/**
 * The audience language. One condition is a subject and exactly one operator; conditions are put together by all, any, not.
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
 * An event alone asks whether it ever occurred; `at_least`, `at_most` or `exactly` how often, `sum` how much, `first` and
 * `last` when. `where` and `sum` look at single events and need `within`. `parse.ts` knows the bounds of everything.
 *
 * What is below is its parsed form: durations in milliseconds, moments in milliseconds since the epoch.
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
      window: Window | null;
    }
  | { kind: 'sum'; event: string; property: string; compare: NumberCompare; than: number; window: Window }
  | { kind: 'first' | 'last'; event: string; test: TimeTest }
  | { kind: 'audience'; audienceId: string };

/** Only events that occurred after now − withinMs count, and only those whose properties pass all tests. */
export type Window = { withinMs: number; where: PropertyTest[] };
/**
 * A property is compared with what was written, and a moment only with a fixed one: were it compared with now, an event
 * could come into the window by itself, and nothing could say until when an answer lasts.
 */
export type PropertyTest = { property: string; test: ValueTest };

export type NumberCompare = 'at_least' | 'at_most' | 'greater_than' | 'less_than';

/**
 * An operator declares the type that it compares. A value of another type passes none of these: no text is read as a
 * number. So is a value that is not there; `not` turns that around, as everything else.
 */
export type ValueTest =
  | { op: 'is_set' }
  | { op: 'equals'; value: string | number | boolean }
  | { op: 'one_of'; values: (string | number)[] }
  | { op: 'contains' | 'starts_with' | 'ends_with'; text: string }
  | { op: NumberCompare; than: number }
  /** The value is an array and this is one of its elements. */
  | { op: 'includes'; value: string | number | boolean }
  | TimeTest;

/** A moment: a text that `parseInstant` takes, or the first or last occurrence of an event. t is that moment. */
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
 * What a predicate asks of a person's events within a window. Two conditions that ask the same share one question: `key`
 * is the same text for both, and differs for any two that are not the same.
 */
export type NthQuestion = {
  kind: 'nth';
  key: string;
  event: string;
  window: Window;
  /** The nth newest: "at least 3" asks for the third, "at most 3" for the fourth. */
  nth: number;
};
export type SumQuestion = { kind: 'sum'; key: string; event: string; window: Window; property: string };
export type Question = NthQuestion | SumQuestion;

/** Sum over the window of a property where it is a number, and when the oldest of those events occurred. */
export type WindowSum = { sum: number; oldestAt: number | null };

/** Everything that a predicate may ask about one person. */
export type Facts = {
  now: number;
  email: string | null;
  /** Undefined where it is not set. */
  trait(key: string): unknown;
  /** All occurrences of an event, whatever has become of its rows. */
  total(event: string): { count: number; firstAt: number; lastAt: number } | undefined;
  /** When the nth newest in the window occurred; null where there are not so many. */
  nth(question: NthQuestion): number | null;
  sum(question: SumQuestion): WindowSum;
  isMember(audienceId: string): boolean;
};

/**
 * `until`: as long as nothing happens, the answer stays what it is before this moment. It may change then, and may not:
 * whoever waits for it asks again. Null: time alone never changes it.
 */
export type Answer = { holds: boolean; until: number | null };

/** What a predicate looks at: whoever changes none of it need not ask again. */
export type Mentions = {
  traits: Set<string>;
  email: boolean;
  /** Every event named, with or without a window. */
  events: Set<string>;
  /** Those asked about without a window: `total`, first, last. */
  totals: Set<string>;
  questions: Map<string, Question>;
  audiences: Set<string>;
  /** Whether time alone can change the answer. */
  timed: boolean;
};
