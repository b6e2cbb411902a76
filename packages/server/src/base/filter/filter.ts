/**
 * The one grammar in which every list of ours is filtered.
 *
 *   type:event name:trial_* user:42        all three are required
 *   type:event,request                     any of the two
 *   -type:request                          what is no request, whether it has a type or not
 *   name:*_failed                          a star stands for any run of characters, also none
 *   audience:"Trial users" name:"5*"       quotes for blanks, commas, stars; inside them \" and \\
 *   name:"the end of "*                    quoted and plain pieces of one value may follow each other
 *
 * Letters are compared as they are written. What a thing does not have passes no term, and every negated one.
 */
export type Filter = { terms: FilterTerm[] };

export type FilterTerm = { key: string; negated: boolean; values: Pattern[] };

/** The texts between the stars: ['42'] is that value, ['trial_', ''] whatever begins so. No two stars stand together. */
export type Pattern = string[];

/** The keys that a list knows; where the values of one are known too, a value that cannot occur is refused. */
export type Vocabulary = Record<string, { values?: readonly string[] }>;

export const NO_FILTER: Filter = { terms: [] };

/** In memory; `filterSql` says the same to the database. */
export function matches(filter: Filter, item: Record<string, string | undefined>): boolean {
  return filter.terms.every((term) => passes(term, item[term.key]));
}

export function passes(term: FilterTerm, value: string | undefined): boolean {
  const found = value !== undefined && term.values.some((pattern) => matchesPattern(pattern, value));
  return found !== term.negated;
}

/** Whether the key is narrowed to values that are spelt out, so that an index of them helps. */
export function isExact(filter: Filter, key: string): boolean {
  return filter.terms.some(
    (term) => term.key === key && !term.negated && term.values.every((pattern) => pattern.length === 1),
  );
}

/** Each text at the first place where it fits: if any place lets the rest fit, then so does the first. */
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
