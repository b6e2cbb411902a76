import type { PredicateResult, NumberCompare, PropertyTest, TimeTest, ValueTest } from './predicate.ts';
import { parseInstant } from '../time/time-text.ts';

const NEVER: PredicateResult = { matches: false, until: null };
const ALWAYS: PredicateResult = { matches: true, until: null };

/** Applies one test to one value of a user or of an event. Undefined and null count as absent. */
export function testValue(test: ValueTest, value: unknown, now: number): PredicateResult {
  if (!isMomentTest(test)) return passes(test, value) ? ALWAYS : NEVER;
  const at = typeof value === 'string' ? parseInstant(value) : Number.NaN;
  return Number.isNaN(at) ? NEVER : testMoment(test, at, now);
}

export function isMomentTest(test: ValueTest): test is TimeTest {
  return 'at' in test || 'ms' in test;
}

function passes(test: Exclude<ValueTest, TimeTest>, value: unknown): boolean {
  if ('than' in test) return typeof value === 'number' && compareNumbers(test.op, value, test.than);
  if ('text' in test) return typeof value === 'string' && passesText(test, value);
  switch (test.op) {
    case 'is_set':
      return value !== undefined && value !== null;
    case 'equals':
      return value === test.value;
    case 'one_of':
      return (test.values as unknown[]).includes(value);
    case 'includes':
      return Array.isArray(value) && value.includes(test.value);
    default:
      return test satisfies never;
  }
}

function passesText({ op, text }: Extract<ValueTest, { text: string }>, value: string): boolean {
  if (op === 'contains') return value.includes(text);
  return op === 'starts_with' ? value.startsWith(text) : value.endsWith(text);
}

export function compareNumbers(compare: NumberCompare, value: number, than: number): boolean {
  switch (compare) {
    case 'at_least':
      return value >= than;
    case 'at_most':
      return value <= than;
    case 'greater_than':
      return value > than;
    case 'less_than':
      return value < than;
    default:
      return compare satisfies never;
  }
}

/** Each test holds in one span of `now`, from the first of its edges until the second. */
export function testMoment(test: TimeTest, at: number, now: number): PredicateResult {
  switch (test.op) {
    case 'before':
      return at < test.at ? ALWAYS : NEVER;
    case 'after':
      return at > test.at ? ALWAYS : NEVER;
    case 'in_last':
      return holdsBetween(at, at + test.ms, now);
    case 'more_than_ago':
      return holdsBetween(at + test.ms, Number.POSITIVE_INFINITY, now);
    case 'in_next':
      return holdsBetween(at - test.ms, at, now);
    case 'more_than_ahead':
      return holdsBetween(Number.NEGATIVE_INFINITY, at - test.ms, now);
    default:
      return test satisfies never;
  }
}

function holdsBetween(from: number, to: number, now: number): PredicateResult {
  if (now < from) return { matches: false, until: from };
  if (now >= to) return NEVER;
  return { matches: true, until: to === Number.POSITIVE_INFINITY ? null : to };
}

/** Returns whether the properties of one event pass all tests. */
export function matchesWhere(where: PropertyTest[], properties: Record<string, unknown>): boolean {
  return where.every(({ property, test }) => {
    // Inherited members are not properties of the event.
    const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
    return testValue(test, value, ANY_TIME).matches;
  });
}

/** A property is compared only with fixed values and moments, so that the answer does not depend on the time of the evaluation. */
const ANY_TIME = 0;
