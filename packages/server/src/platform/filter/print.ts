import type { Filter, FilterTerm, Pattern } from './filter.ts';

/** Returns text that `parseFilter` parses to this filter. */
export function printFilter(filter: Filter): string {
  return filter.terms.map(printTerm).join(' ');
}

function printTerm({ key, negated, values }: FilterTerm): string {
  return `${negated ? '-' : ''}${key}:${values.map(printPattern).join(',')}`;
}

function printPattern(pattern: Pattern): string {
  const text = pattern.map(printText).join('*');
  return text === '' ? '""' : text;
}

/** Characters that end a plain piece or have a meaning in it. A backslash has a meaning only inside quotes. */
const NEEDS_QUOTES = /[\s",*]/;

function printText(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
}
