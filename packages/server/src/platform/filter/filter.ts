/**
 * The one grammar with which every list is filtered.
 *
 * - `type:event name:trial_* user:42`: all three are required.
 * - `type:event,request`: either of the two.
 * - `-type:request`: everything but requests, with a type or without.
 * - `name:*_failed`: a star matches any run of characters, even an empty one.
 * - `audience:"Trial users" name:"5*"`: quotes for blanks, commas and stars; inside them `\"` and `\\`.
 * - `name:"the end of "*`: quoted and plain pieces of one value may follow each other.
 * - `omar -test`: a word without a key is searched in the main texts of a row, anywhere and in any case of A to Z.
 *
 * Comparison by key is case-sensitive. An item without a key passes no term on it, and every negated one.
 */

import { isWithin, type TimeRange, spansSql } from './moments.ts';

export type Filter = { terms: FilterTerm[] };

/** `spans`: the ranges of times that the values mean, for a key whose values are times. */
export type FilterTerm = { key: string; negated: boolean; values: Pattern[]; spans?: TimeRange[] };

/** The texts between the stars: ['42'] matches that value, ['trial_', ''] any value with that prefix. Adjacent stars are merged. */
export type Pattern = string[];

/** The keys of a list. If the values of a key are known too, a value that cannot occur is rejected. */
export type Vocabulary = Readonly<
  Record<string, { about?: string; values?: readonly string[]; isTime?: true }>
>;

/** The key of words without one. No list has a key of this name, and each one has a column for it. */
export const WORDS = 'words';

/** The column of words: the main texts of a row. The collation of the tables knows the case of A to Z only. */
export function wordsColumn(texts: string[]): FilterColumn {
  return { sql: `lower(concat_ws(' ', ${texts.join(', ')}))` };
}

export const NO_FILTER: Filter = { terms: [] };

/** A row in memory. A key with several values passes if one of them does. Times are ISO texts. */
export type FilteredItem = Record<string, string | readonly string[] | undefined>;

/** Evaluates in memory. `filterSql` is the equivalent for the database. */
export function matches(filter: Filter, item: FilteredItem): boolean {
  return filter.terms.every((term) => {
    const value = item[term.key];
    if (typeof value !== 'object') return passes(term, value);
    return value.some((each) => passes({ ...term, negated: false }, each)) !== term.negated;
  });
}

/** The words of a row in memory, as `wordsColumn` reads them from the database. */
export function wordsText(texts: (string | null)[]): string {
  return texts
    .filter((text) => text !== null)
    .join(' ')
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function passes(term: FilterTerm, value: string | undefined): boolean {
  return (value !== undefined && isMatch(term, value)) !== term.negated;
}

function isMatch({ values, spans }: FilterTerm, value: string): boolean {
  return spans
    ? isWithin(spans, Date.parse(value))
    : values.some((pattern) => matchesPattern(pattern, value));
}

/** Returns whether the key is narrowed to literal values, so that an index on it helps. */
export function isExact(filter: Filter, key: string): boolean {
  return filter.terms.some(
    (term) => term.key === key && !term.negated && term.values.every((pattern) => pattern.length === 1),
  );
}

/** Matches each text at the first position where it fits: if any position lets the rest fit, the first one does too. */
export function matchesPattern(pattern: Pattern, value: string): boolean {
  const [first = '', ...rest] = pattern;
  const last = rest.pop();
  if (last === undefined) return value === first;
  if (!value.startsWith(first) || value.length < first.length + last.length || !value.endsWith(last)) {
    return false;
  }
  const end = value.length - last.length;
  let at = first.length;
  for (const text of rest) {
    const found = value.indexOf(text, at);
    if (found < 0 || found + text.length > end) return false;
    at = found + text.length;
  }
  return true;
}

/**
 * The column of a key. `among` lists all values that the column can have, and implies that it is never null: then many filters are decided
 * without a query. `isTime`: it has times, and the values are times too.
 */
export type FilterColumn = { sql: string; among?: readonly string[]; isTime?: true };

/** Adds a parameter, and returns its placeholder. */
export type Bind = (value: string | string[]) => string;

/**
 * Converts a filter to a condition on these columns; null if no row can pass it. A key without a column is absent from the rows. All user
 * input becomes parameters.
 */
export function filterSql(
  filter: Filter,
  columns: Record<string, FilterColumn | undefined>,
  bind: Bind,
): string | null {
  const open: { term: FilterTerm; column: FilterColumn }[] = [];
  for (const term of filter.terms) {
    const column = columns[term.key];
    const decided = decidedWithoutRow(term, column);
    if (decided === false) return null;
    if (column && decided === null) open.push({ term, column });
  }
  // Bound last, because the database rejects a parameter that no condition uses.
  const conditions = open.map(({ term, column }) => termSql(term, column, bind));
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/** Returns whether all rows or no rows pass the term; null if that depends on the row. */
function decidedWithoutRow(term: FilterTerm, column: FilterColumn | undefined): boolean | null {
  if (!column) return term.negated;
  if (!column.among) return null;
  const passing = column.among.filter((value) => passes(term, value));
  return passing.length > 0 && passing.length < column.among.length ? null : passing.length > 0;
}

function termSql(term: FilterTerm, { sql, among, isTime }: FilterColumn, bind: Bind): string {
  if (isTime) return timeSql(term, sql, bind);
  if (among) return `${sql} = ANY(${bind(among.filter((value) => passes(term, value)))}::text[])`;
  const literal = term.values.flatMap((pattern) => (pattern.length === 1 ? pattern : []));
  const patterns = term.values.filter((pattern) => pattern.length > 1);
  const tests = patterns.map((pattern) => `${sql} LIKE ${bind(likeText(pattern))}::text ESCAPE '!'`);
  if (literal.length > 0) tests.unshift(`${sql} = ${oneOfSql(literal, bind)}`);
  const any = `(${tests.join(' OR ')})`;
  return term.negated ? `${any} IS NOT TRUE` : any;
}

/** A condition on a column with times. A row without a time passes every negated term. */
export function timeSql({ key, negated, spans }: FilterTerm, sql: string, bind: Bind): string {
  if (!spans) throw new Error(`the filter was read without the times of ${key}`);
  const within = spansSql(spans, sql, bind);
  return negated ? `${within} IS NOT TRUE` : within;
}

function oneOfSql(values: string[], bind: Bind): string {
  const [only] = values;
  return only !== undefined && values.length === 1 ? `${bind(only)}::text` : `ANY(${bind(values)}::text[])`;
}

function likeText(pattern: Pattern): string {
  return pattern.map((text) => text.replaceAll(/[!%_]/g, '!$&')).join('%');
}
