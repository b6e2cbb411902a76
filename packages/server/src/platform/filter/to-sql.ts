import { type Filter, type FilterTerm, passes, type Pattern } from './filter.ts';

/**
 * The column of a key. `among` lists all values that the column can have, and implies that it is never null: then many filters are decided
 * without a query.
 */
export type FilterColumn = { sql: string; among?: readonly string[] };

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
    const known = knownAnswer(term, column);
    if (known === false) return null;
    if (column && known === null) open.push({ term, column });
  }
  // Bound last, because the database rejects a parameter that no condition uses.
  const conditions = open.map(({ term, column }) => termSql(term, column, bind));
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/** Returns whether all rows or no rows pass the term; null if that depends on the row. */
function knownAnswer(term: FilterTerm, column: FilterColumn | undefined): boolean | null {
  if (!column) return term.negated;
  if (!column.among) return null;
  const passing = column.among.filter((value) => passes(term, value));
  return passing.length > 0 && passing.length < column.among.length ? null : passing.length > 0;
}

function termSql(term: FilterTerm, { sql, among }: FilterColumn, bind: Bind): string {
  if (among) return `${sql} = ANY(${bind(among.filter((value) => passes(term, value)))}::text[])`;
  const literal = term.values.flatMap((pattern) => (pattern.length === 1 ? pattern : []));
  const patterns = term.values.filter((pattern) => pattern.length > 1);
  const tests = patterns.map((pattern) => `${sql} LIKE ${bind(likeText(pattern))}::text ESCAPE '!'`);
  if (literal.length > 0) tests.unshift(`${sql} = ${oneOf(literal, bind)}`);
  const any = `(${tests.join(' OR ')})`;
  return term.negated ? `${any} IS NOT TRUE` : any;
}

function oneOf(values: string[], bind: Bind): string {
  const [only] = values;
  return only !== undefined && values.length === 1 ? `${bind(only)}::text` : `ANY(${bind(values)}::text[])`;
}

function likeText(pattern: Pattern): string {
  return pattern.map((text) => text.replaceAll(/[!%_]/g, '!$&')).join('%');
}
