import type { Filter, FilterTerm, Pattern } from './filter.ts';

/** The text that `parseFilter` reads as this filter. */
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

/** What ends a plain piece or means something in it; a backslash means something inside quotes alone. */
const NEEDS_QUOTES = /[\s",*]/;

function printText(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
}
