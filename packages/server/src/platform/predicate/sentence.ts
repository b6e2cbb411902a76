import type { Predicate, PropertyTest } from './predicate.ts';
import type { CountNode, EdgeNode, SumNode } from './questions.ts';
import { momentWords, numberWords, spanWords, testWords, word, timesWords } from './words.ts';

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
type Saying = { nameOf: AudienceNames; negated: boolean; user: string; the: string };

function clauseOf(predicate: Predicate, saying: Saying): Clause {
  const { nameOf, negated, user, the } = saying;
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return join(
        (predicate.kind === 'all') !== negated,
        predicate.of.map((child) => clauseOf(child, saying)),
      );
    case 'not':
      return clauseOf(predicate.of, { ...saying, negated: !negated });
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
  const done = `done ${eventWords(event, window?.where ?? [])}`;
  const within = window === null ? '' : ` ${spanWords(window.withinMs)}`;
  if (counted.compare === 'at_least' && counted.count <= 1) return `has ${done}${within}`;
  if (counted.compare !== 'at_least' && counted.count === 0) {
    return `has ${counted.not ? '' : 'not '}${done}${within}`;
  }
  const how = { at_least: 'at least', at_most: 'at most', exactly: 'exactly' }[counted.compare];
  return `has ${counted.not ? 'not ' : ''}${done} ${how} ${timesWords(counted.count)}${within}`;
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
