import { Fault, type FieldFault } from '../fault.ts';
import {
  type Filter,
  type FilterTerm,
  matchesPattern,
  type Pattern,
  type Vocabulary,
  WORDS,
} from './filter.ts';
import { readSpans, type TimeRange } from './moments.ts';

export type ParsedFilter = { ok: true; filter: Filter } | { ok: false; faults: FieldFault[] };

const FILTER_CHARS_MAX = 1_000;
const FILTER_TERMS_MAX = 20;
const FILTER_FAULTS_MAX = 20;

/** Reports all errors, each with its position counted from 1. */
export function parseFilter(text: string, vocabulary: Vocabulary): ParsedFilter {
  const unfit = unfitText(text);
  if (unfit !== null) return refused([unfit]);
  const { words, unclosedAt } = readWords(text);
  if (unclosedAt !== null) return refused([`The quote at character ${unclosedAt + 1} is not closed`]);
  if (words.length > FILTER_TERMS_MAX) {
    return refused([`A filter has at most ${FILTER_TERMS_MAX} terms, this one has ${words.length}`]);
  }
  const faults: string[] = [];
  const terms: FilterTerm[] = [];
  for (const word of words) {
    const read = readTerm(word, vocabulary);
    if (Array.isArray(read)) faults.push(...read);
    else terms.push(read);
  }
  return faults.length > 0 ? refused(faults) : { ok: true, filter: { terms } };
}

type WithoutTimes = Readonly<Record<string, { about?: string; values?: readonly string[]; isTime?: never }>>;

/**
 * Parses a filter as a member typed it. An invalid filter is refused with all its errors. `zone`: the zone of its days, which is that of
 * the project; a list without times needs none.
 */
export function readFilter(text: string | undefined, vocabulary: WithoutTimes): Filter;
export function readFilter(text: string | undefined, vocabulary: Vocabulary, zone: string): Filter;
export function readFilter(text: string | undefined, vocabulary: Vocabulary, zone = 'UTC'): Filter {
  const parsed = parseFilter(text ?? '', vocabulary);
  if (!parsed.ok) throw new Fault('validation_failed', { details: parsed.faults });
  const faults: FieldFault[] = [];
  const terms = parsed.filter.terms.map((term): FilterTerm => {
    if (vocabulary[term.key]?.isTime !== true) return term;
    const read = readSpans(term, zone);
    if (isSpans(read)) return { ...term, spans: read };
    faults.push(...read);
    return term;
  });
  if (faults.length > 0) throw new Fault('validation_failed', { details: faults });
  return { terms };
}

function isSpans(read: TimeRange[] | FieldFault[]): read is TimeRange[] {
  return read.every((item) => 'from' in item);
}

function refused(messages: string[]): ParsedFilter {
  const faults = messages.slice(0, FILTER_FAULTS_MAX).map((message) => ({ message, field: 'filter' }));
  return { ok: false, faults };
}

function unfitText(text: string): string | null {
  if (text.length > FILTER_CHARS_MAX) return `A filter has at most ${FILTER_CHARS_MAX} characters`;
  // PostgreSQL stores neither, so they could match nothing.
  if (text.includes('\0') || !text.isWellFormed()) return 'A filter must be Unicode text without NUL';
  return null;
}

/** A run of characters. Quoted characters are literal. */
type Piece = { at: number; text: string; quoted: boolean };
type Word = { head: Piece; rest: Piece[] };

const BLANKS = /\s*/y;
const PIECE = /([^\s"]+)|"((?:[^"\\]|\\.)*)"/sy;

function readWords(text: string): { words: Word[]; unclosedAt: number | null } {
  const words: Word[] = [];
  let word: Word | null = null;
  let at = 0;
  while (at < text.length) {
    const blanks = charsOf(BLANKS, text, at)?.[0].length ?? 0;
    at += blanks;
    if (at === text.length) break;
    const match = charsOf(PIECE, text, at);
    if (!match) return { words, unclosedAt: at };
    const [all, plain, quoted = ''] = match;
    const unquoted = plain ?? quoted.replaceAll(/\\(.)/gs, '$1');
    const piece = { at, text: unquoted, quoted: plain === undefined };
    if (word && blanks === 0) word.rest.push(piece);
    else words.push((word = { head: piece, rest: [] }));
    at += all.length;
  }
  return { words, unclosedAt: null };
}

function charsOf(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const KEY = /^(-?)([^:]*):(.*)$/s;

/** Returns the term, or the errors in it. */
function readTerm({ head, rest }: Word, vocabulary: Vocabulary): FilterTerm | string[] {
  const keys = Object.keys(vocabulary).join(', ');
  const where = `at character ${head.at + 1}`;
  const parts = head.quoted ? null : KEY.exec(head.text);
  if (!parts) return wordTerm([head, ...rest]);
  const [, minus, key = '', text = ''] = parts;
  if (!Object.hasOwn(vocabulary, key))
    return [`${JSON.stringify(key)} ${where} is not a key. Use one of ${keys}`];
  const first = { at: head.at + head.text.length - text.length, text, quoted: false };
  const values = readValues([first, ...rest]);
  const faults = values.flatMap((value) => valueFault(value, key, vocabulary) ?? []);
  if (faults.length > 0) return faults;
  return { key, negated: minus === '-', values: values.map(({ pattern }) => pattern) };
}

/** Words are found anywhere in a text. A comma is part of the word, unlike in a value. */
function wordTerm([head, ...rest]: [Piece, ...Piece[]]): FilterTerm {
  const isNegated = !head.quoted && head.text.startsWith('-') && head.text.length + rest.length > 1;
  const first = isNegated ? { ...head, text: head.text.slice(1) } : head;
  const word: Value = { at: first.at, pattern: ['', ''], isWritten: false };
  for (const piece of [first, ...rest])
    for (const { text } of piece.quoted ? [piece] : starsOf(piece)) {
      if (text === '*' && !piece.quoted) addStar(word);
      else addText(word, lowerCase(text));
    }
  if (word.pattern.at(-1) !== '') word.pattern.push('');
  return { key: WORDS, negated: isNegated, values: [word.pattern] };
}

function starsOf({ at, text }: Piece): { at: number; text: string }[] {
  return Array.from(text.matchAll(/\*|[^*]+/g), (match) => ({ at: at + match.index, text: match[0] }));
}

/** As the database does with the collation of the tables. */
function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

type Value = { at: number; pattern: Pattern; isWritten: boolean };

function readValues(pieces: Piece[]): Value[] {
  let value: Value = { at: pieces[0]?.at ?? 0, pattern: [''], isWritten: false };
  const values = [value];
  for (const piece of pieces) {
    for (const { at, text } of piece.quoted ? [piece] : signsOf(piece)) {
      if (text === ',' && !piece.quoted)
        values.push((value = { at: at + 1, pattern: [''], isWritten: false }));
      else if (text === '*' && !piece.quoted) addStar(value);
      else addText(value, text);
    }
  }
  return values;
}

/** Splits into commas, stars, and the text between them. */
function signsOf({ at, text }: Piece): { at: number; text: string }[] {
  return Array.from(text.matchAll(/[,*]|[^,*]+/g), (match) => ({ at: at + match.index, text: match[0] }));
}

function addText(value: Value, text: string): void {
  value.isWritten = true;
  value.pattern.push((value.pattern.pop() ?? '') + text);
}

/** Two adjacent stars mean the same as one. */
function addStar(value: Value): void {
  value.isWritten = true;
  if (value.pattern.length === 1 || value.pattern.at(-1) !== '') value.pattern.push('');
}

function valueFault(value: Value, key: string, vocabulary: Vocabulary): string | null {
  const where = `at character ${value.at + 1}`;
  if (!value.isWritten) return `${key} has no value ${where}. Write "" for an empty value`;
  const allowed = vocabulary[key]?.values;
  if (!allowed || allowed.some((allowedValue) => matchesPattern(value.pattern, allowedValue))) return null;
  const printed = printFilter({ terms: [{ key, negated: false, values: [value.pattern] }] });
  return `${printed} ${where} is not a value of ${key}. Use one of ${allowed.join(', ')}`;
}

/** Returns text that `parseFilter` parses to this filter. */
export function printFilter(filter: Filter): string {
  return filter.terms.map(printTerm).join(' ');
}

function printTerm({ key, negated, values }: FilterTerm): string {
  if (key === WORDS) return `${negated ? '-' : ''}${values.map(printWord).join(' ')}`;
  return `${negated ? '-' : ''}${key}:${values.map(printPattern).join(',')}`;
}

function printPattern(pattern: Pattern): string {
  const text = pattern.map(printText).join('*');
  return text === '' ? '""' : text;
}

/** Without the stars at both ends, which every word has. The quotes keep a colon or a minus from having a meaning. */
function printWord(pattern: Pattern): string {
  const [head = '', ...rest] = pattern.slice(1, -1);
  const first = head === '' ? '""' : `"${head.replaceAll(/["\\]/g, '\\$&')}"`;
  return [first, ...rest.map(printText)].join('*');
}

/** Characters that end a plain piece or have a meaning in it. A backslash has a meaning only inside quotes. */
const NEEDS_QUOTES = /[\s",*]/;

function printText(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
}
