import { isMomentTest } from './compare.ts';
import type {
  CountNode,
  EdgeNode,
  NumberCompare,
  Predicate,
  PropertyTest,
  SumNode,
  TimeTest,
  ValueTest,
} from './predicate.ts';
import { iso } from '../time/clock.ts';
import { printDuration } from '../time/time-text.ts';

export type AudienceNames = (audienceId: string) => string | undefined;

/** Describes a predicate in plain English: `plan is trial and has not done login in the last 7 days`. */
export function sentenceOf(predicate: Predicate, nameOf: AudienceNames): string {
  return print(clauseOf(predicate, { nameOf, negated: false, user: '', the: '' }));
}

/** Describes a predicate as a complete clause, to follow `if` or `when`: `the user has not done login`. */
export function userClauseOf(predicate: Predicate, nameOf: AudienceNames): string {
  return print(clauseOf(predicate, { nameOf, negated: false, user: 'the user ', the: 'the ' }));
}

/** A condition or a group. Each `not` is pushed down to the conditions, and nested groups of one kind are merged. */
type Clause = string | { and: boolean; of: Clause[] };
/** `user` and `the` are put before conditions without a subject or an article; both are empty in the short form. */
type ClauseOptions = { nameOf: AudienceNames; negated: boolean; user: string; the: string };

function clauseOf(predicate: Predicate, options: ClauseOptions): Clause {
  const { nameOf, negated, user, the } = options;
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return join(
        (predicate.kind === 'all') !== negated,
        predicate.of.map((child) => clauseOf(child, options)),
      );
    case 'not':
      return clauseOf(predicate.of, { ...options, negated: !negated });
    case 'trait':
      return testWords(word(predicate.trait), predicate.test, negated);
    case 'user':
      return testWords('email', predicate.test, negated);
    case 'count':
      return `${user}${countWords(predicate, negated)}`;
    case 'sum':
      return `${the}${sumWords(predicate, negated)}`;
    case 'first':
    case 'last':
      return `${the}${edgeWords(predicate, negated)}`;
    case 'audience':
      return `${user}is ${negated ? 'not ' : ''}in ${audienceWords(nameOf(predicate.audienceId))}`;
    default:
      return predicate satisfies never;
  }
}

function join(and: boolean, clauses: Clause[]): Clause {
  const of = clauses.flatMap((clause) =>
    typeof clause !== 'string' && clause.and === and ? clause.of : [clause],
  );
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { and, of };
}

/** Puts a group within a group in parentheses, so that the reader need not remember whether `and` or `or` binds closer. */
function print(clause: Clause): string {
  if (typeof clause === 'string') return clause;
  const parts = clause.of.map((part) => (typeof part === 'string' ? part : `(${print(part)})`));
  return parts.join(clause.and ? ' and ' : ' or ');
}

function edgeWords({ kind, event, test }: EdgeNode, negated: boolean): string {
  return `${kind} ${word(event)} was ${negated ? 'not ' : ''}${momentWords(test)}`;
}

export function audienceWords(name: string | undefined): string {
  return name === undefined ? 'an audience that does not exist' : `the audience “${name}”`;
}

/** Describes a count. A count always exists, so its negation is another count. */
function countWords({ event, compare, count, window }: CountNode, negated: boolean): string {
  const counted = negated ? oppositeOf({ compare, count }) : { compare, count };
  const doneClause = `done ${eventWords(event, window?.where ?? [])}`;
  const within = window === null ? '' : ` ${spanWords(window.withinMs)}`;
  if (counted.compare === 'at_least' && counted.count <= 1) return `has ${doneClause}${within}`;
  if (counted.compare !== 'at_least' && counted.count === 0) {
    return `has ${counted.not ? '' : 'not '}${doneClause}${within}`;
  }
  const comparison = { at_least: 'at least', at_most: 'at most', exactly: 'exactly' }[counted.compare];
  return `has ${counted.not ? 'not ' : ''}${doneClause} ${comparison} ${timesWords(counted.count)}${within}`;
}

type Counted = Pick<CountNode, 'compare' | 'count'> & { not?: boolean };

function oppositeOf({ compare, count }: Counted): Counted {
  if (compare === 'at_least') return { compare: 'at_most', count: count - 1 };
  return compare === 'at_most' ? { compare: 'at_least', count: count + 1 } : { compare, count, not: true };
}

const OPPOSITES = {
  at_least: 'less_than',
  at_most: 'greater_than',
  greater_than: 'at_most',
  less_than: 'at_least',
} as const;

function sumWords({ event, property, compare, than, window }: SumNode, negated: boolean): string {
  const is = numberWords(negated ? OPPOSITES[compare] : compare, than);
  return `total ${word(property)} of ${eventWords(event, window.where)} ${spanWords(window.withinMs)} is ${is}`;
}

export function eventWords(event: string, where: PropertyTest[]): string {
  if (where.length === 0) return word(event);
  const tests = where.map(({ property, test }) => testWords(word(property), test, false));
  return `${word(event)} (where ${tests.join(' and ')})`;
}

/** Texts are cut after 80 characters, and lists after 10 items, to keep sentences readable. The definition has all of it. */
const CUT = /^.{80}(?=.)/su;
const ITEMS_SHOWN = 10;

/** Texts without quotes: names that cannot be mistaken for a number, for true or false, or for a part of the sentence. */
const PLAIN = /^(?!(?:true|false|and|or|not|is|in|of|more)$)[\p{L}_][\p{L}\p{N}_]*(?:[-.][\p{L}\p{N}_]+)*$/u;

/** Prints a name or a text of the user, in quotes if it could be misread without. */
export function word(text: string): string {
  const short = shortened(text);
  return PLAIN.test(short) ? short : `“${short}”`;
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
  const listed = values.slice(0, ITEMS_SHOWN).map(valueWords).join(', ');
  return values.length > ITEMS_SHOWN
    ? `one of ${listed} and ${values.length - ITEMS_SHOWN} more`
    : `one of ${listed}`;
}

function numberWords(compare: NumberCompare, than: number): string {
  const comparisons = {
    at_least: 'at least',
    at_most: 'at most',
    greater_than: 'more than',
    less_than: 'less than',
  } as const;
  return `${comparisons[compare]} ${than}`;
}

/** Describes a time after the word `is`: `before 2026-01-31`, `in the last 7 days`. */
function momentWords(test: TimeTest): string {
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

function spanWords(ms: number, which: 'last' | 'next' = 'last'): string {
  return `in the ${which} ${durationWords(ms).replace(/^1 /, '')}`;
}

const UNITS = { s: 'second', m: 'minute', h: 'hour', d: 'day' } as const;

export function durationWords(ms: number): string {
  const short = printDuration(ms);
  const count = short.slice(0, -1);
  const unit = UNITS[short.slice(-1) as keyof typeof UNITS];
  return `${count} ${unit}${count === '1' ? '' : 's'}`;
}

function timesWords(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
