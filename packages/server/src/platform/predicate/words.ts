import { isMomentTest } from './compare.ts';
import { printDuration } from '../time/duration.ts';
import { iso } from '../time/clock.ts';
import type { NumberCompare, TimeTest, ValueTest } from './predicate.ts';

/** Texts are cut after 80 characters, and lists after 10 items, to keep sentences readable. The definition has all of it. */
const CUT = /^.{80}(?=.)/su;
const ITEMS_SHOWN = 10;

/** Texts without quotes: names that cannot be mistaken for a number, for true or false, or for a part of the sentence. */
const PLAIN = /^(?!(?:true|false|and|or|not|is|in|of|more)$)[\p{L}_][\p{L}\p{N}_]*(?:[-.][\p{L}\p{N}_]+)*$/u;

/** Prints a name or a text of the user, in quotes if it could be misread without. */
export function word(text: string): string {
  const shown = shortened(text);
  return PLAIN.test(shown) ? shown : `“${shown}”`;
}

/** Prints a name in quotes in any case, such as the name of an email. */
export function quoted(text: string): string {
  return `“${shortened(text)}”`;
}

function shortened(text: string): string {
  const [head] = CUT.exec(text) ?? [];
  return head === undefined ? text : `${head}…`;
}

function valueWords(value: string | number | boolean): string {
  return typeof value === 'string' ? word(value) : String(value);
}

/**
 * Describes a condition on a value, or its opposite. A value may be missing or of another type, so the opposite of
 * `at least 5` is not `less than 5`.
 */
export function testWords(subject: string, test: ValueTest, negated: boolean): string {
  if (test.op === 'includes') {
    return `${subject} ${verb('includes', negated)} ${valueWords(test.value)}`;
  }
  if ('text' in test) return `${subject} ${verb(VERBS[test.op], negated)} ${word(test.text)}`;
  return `${subject} is ${negated ? 'not ' : ''}${stateWords(test)}`;
}

const VERBS = { contains: 'contains', starts_with: 'starts with', ends_with: 'ends with' } as const;

function verb(third: string, negated: boolean): string {
  return negated ? `does not ${third.replace(/^(\w+)s\b/, '$1')}` : third;
}

function stateWords(test: Exclude<ValueTest, { op: 'includes' } | { text: string }>): string {
  if ('than' in test) return numberWords(test.op, test.than);
  if (isMomentTest(test)) return momentWords(test);
  if ('value' in test) return valueWords(test.value);
  return 'values' in test ? oneOfWords(test.values) : 'set';
}

function oneOfWords(values: (string | number)[]): string {
  const [only] = values;
  if (values.length === 1 && only !== undefined) return valueWords(only);
  const shown = values.slice(0, ITEMS_SHOWN).map(valueWords).join(', ');
  return values.length > ITEMS_SHOWN
    ? `one of ${shown} and ${values.length - ITEMS_SHOWN} more`
    : `one of ${shown}`;
}

export function numberWords(compare: NumberCompare, than: number): string {
  const how = {
    at_least: 'at least',
    at_most: 'at most',
    greater_than: 'more than',
    less_than: 'less than',
  } as const;
  return `${how[compare]} ${than}`;
}

/** Describes a time after the word `is`: `before 2026-01-31`, `in the last 7 days`. */
export function momentWords(test: TimeTest): string {
  switch (test.op) {
    case 'before':
    case 'after':
      return `${test.op} ${dateWords(test.at)}`;
    case 'in_last':
      return spanWords(test.ms);
    case 'more_than_ago':
      return `more than ${durationWords(test.ms)} ago`;
    case 'in_next':
      return spanWords(test.ms, 'next');
    case 'more_than_ahead':
      return `more than ${durationWords(test.ms)} ahead`;
    default:
      return test satisfies never;
  }
}

/** Prints midnight in UTC as a date, because definitions mostly contain dates. */
function dateWords(at: number): string {
  return iso(at)
    .replace('T00:00:00.000Z', '')
    .replace(/\.000Z$/, 'Z');
}

export function spanWords(ms: number, which: 'last' | 'next' = 'last'): string {
  return `in the ${which} ${durationWords(ms).replace(/^1 /, '')}`;
}

const UNITS = { s: 'second', m: 'minute', h: 'hour', d: 'day' } as const;

export function durationWords(ms: number): string {
  const short = printDuration(ms);
  const count = short.slice(0, -1);
  const unit = UNITS[short.slice(-1) as keyof typeof UNITS];
  return `${count} ${unit}${count === '1' ? '' : 's'}`;
}

export function timesWords(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
