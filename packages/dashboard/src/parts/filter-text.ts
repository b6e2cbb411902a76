/**
 * The text of a filter and its parts. A filter is a list of terms with blanks between them: words, and keys with values. The server parses
 * and validates the terms; here they stay as they were typed, so that no text is lost.
 */

/** `chips`: terms with a key. `typed`: everything else, as it is in the input. */
export type FilterParts = { chips: string[]; typed: string };

/** A term ends at a blank outside quotes. A quote that is not closed reaches to the end of the text. */
const TERM = /(?:[^\s"]|"(?:[^"\\]|\\.)*"|".*$)+/gs;
const CLOSED = /^(?:[^\s"]|"(?:[^"\\]|\\.)*")+$/s;

export function termsOf(text: string): string[] {
  return text.trimEnd().match(TERM) ?? [];
}

export type KeyTerm = { isNegated: boolean; key: string; value: string };

/** Reads a term with a key; null for a word. A colon inside quotes makes no key. */
export function keyTerm(term: string): KeyTerm | null {
  const found = /^(-?)([^:"]+):(.*)$/s.exec(term);
  if (!found) return null;
  const [, minus, key = '', value = ''] = found;
  return { isNegated: minus === '-', key, value };
}

/** A term becomes a chip when it has a key and a value, and all of its quotes are closed. */
function isChip(term: string): boolean {
  const read = keyTerm(term);
  return read !== null && read.value !== '' && CLOSED.test(term);
}

export function splitFilter(text: string): FilterParts {
  const terms = termsOf(text);
  return {
    chips: terms.filter(isChip),
    typed: terms.filter((term) => !isChip(term)).join(' '),
  };
}

export function joinFilter({ chips, typed }: FilterParts): string {
  return [...chips, typed.trim()].filter((part) => part !== '').join(' ');
}

/** Makes chips of the terms that are followed by a blank. The last term may still be typed. */
export function takeFinished({ chips, typed }: FilterParts): FilterParts {
  const last = currentTerm(typed);
  const before = typed.slice(0, typed.length - last.length);
  const finished = splitFilter(before);
  if (finished.chips.length === 0) return { chips, typed };
  const words = finished.typed === '' ? '' : `${finished.typed} `;
  return { chips: [...chips, ...finished.chips], typed: `${words}${last}` };
}

/** Makes chips of all terms that can be. */
export function takeAll({ chips, typed }: FilterParts): FilterParts {
  const all = splitFilter(typed);
  return { chips: [...chips, ...all.chips], typed: all.typed };
}

/** The term at the end of the input that is being typed; empty after a blank outside quotes. */
function currentTerm(typed: string): string {
  const last = typed.match(TERM)?.at(-1) ?? '';
  return typed.endsWith(last) ? last : '';
}

/** A term with a key that is being typed: its value may still be incomplete, and the server would refuse it. */
export function isUnfinished(typed: string): boolean {
  return keyTerm(currentTerm(typed)) !== null;
}

/** The position of the completion: the beginning of a key, or the last of the values of a key. */
export type Completed =
  | { of: 'key'; isNegated: boolean; text: string }
  | { of: 'value'; key: string; text: string };

export function completionOf(typed: string): Completed {
  const term = currentTerm(typed);
  const read = keyTerm(term);
  if (read) return { of: 'value', key: read.key, text: plainText(lastValue(read.value)) };
  const isNegated = term.startsWith('-');
  return { of: 'key', isNegated, text: isNegated ? term.slice(1) : term };
}

/** Replaces the beginning of a key at the end of the input. */
export function withKey(typed: string, key: string): string {
  const term = currentTerm(typed);
  return `${typed.slice(0, typed.length - term.length)}${term.startsWith('-') ? '-' : ''}${key}:`;
}

/** Replaces the last value at the end of the input. */
export function withValue(typed: string, value: string): string {
  const term = currentTerm(typed);
  const unfinished = lastValue(keyTerm(term)?.value ?? '');
  return `${typed.slice(0, typed.length - unfinished.length)}${quoted(value)}`;
}

/** The text after the last comma outside quotes. */
function lastValue(value: string): string {
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at += 1) {
    if (isQuoted && value[at] === '\\') at += 1;
    else if (value[at] === '"') isQuoted = !isQuoted;
    else if (value[at] === ',' && !isQuoted) start = at + 1;
  }
  return value.slice(start);
}

function plainText(value: string): string {
  return value.replaceAll(/"|\\(?=.)/gs, '');
}

/** A value as the filter language writes it. A `>` or `<` in front compares times and needs no quotes. */
export function quoted(value: string): string {
  return value === '' || /[\s",*]/.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : value;
}
