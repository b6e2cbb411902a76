import { escapeHtml } from './html.ts';

/**
 * Converts traits and event properties to text. They are untrusted: in the body they must stay words, whatever Markdown or HTML they spell,
 * and everywhere they stay on their line.
 */

/** The maximum length of a value; a longer one is cut. */
const VALUE_MAX_CHARS = 2_000;
/**
 * The maximum length of a value before cleaning, so that cleaning takes a bounded time. Cleaning removes invisible characters and repeated
 * spaces.
 */
const CLEANED_MAX_CHARS = 2 * VALUE_MAX_CHARS;
const DEEPEST = 4;

/** Characters that are invisible or change the text direction. Joiners stay, because emoji and Persian need them. */
const INVISIBLE = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;
/** White space, except the no-break spaces that French and other locales put between groups of digits. */
const GAPS = /(?:[^\S\u00A0\u202F]|\p{Cc})+/gu;
const VISIBLE = /[^\s\p{Cc}\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/u;
/** Most values are plain words, with nothing to clean or escape. */
const WORDS = /^\p{L}[\p{L}\p{N}]*(?: [\p{L}\p{N}]+)*$/u;

export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/** Returns one line of text. It is empty for a value without a text form, such as an object. */
export function printed(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  if (typeof value === 'boolean') return String(value);
  if (!Array.isArray(value) || depth > DEEPEST) return '';
  return value
    .map((item) => printed(item, depth + 1))
    .filter((text) => text !== '')
    .join(', ');
}

export function plainValue(value: unknown): string {
  const text = printed(value);
  if (text.length <= VALUE_MAX_CHARS && WORDS.test(text)) return text;
  return cut(oneLine(cut(text, CLEANED_MAX_CHARS)), VALUE_MAX_CHARS);
}

/** Escapes a value for text and for quoted attributes. */
export function htmlValue(value: unknown): string {
  return escapeHtml(plainValue(value));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes a value so that Markdown renders exactly its words. HTML becomes entities, so it also stays text within the email's own HTML.
 * Underscores within a word are kept, because they mean nothing there and plans are named `pro_monthly`. At its start a value must not turn
 * its line into a list, a heading or the underline of one. It must not complete a link that the email's own brackets began. At its end it
 * must not begin an image.
 */
export function markdownValue(value: unknown): string {
  const text = plainValue(value);
  if (WORDS.test(text)) return text;
  return text
    .replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)
    .replace(/[\\`*[\]~|@]/g, '\\$&')
    .replace(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\_')
    .replace(/:\/\//g, '\\://')
    .replace(/(www)\./gi, '$1\\.')
    .replace(/^( ?\d+)([.)])/, '$1\\$2')
    .replace(/^( ?)([-+=#:.()/])/, '$1\\$2')
    .replace(/!$/, '\\!');
}

export function oneLine(text: string): string {
  return text.replace(INVISIBLE, '').replace(GAPS, ' ').toWellFormed();
}

/** Cuts a text, but never through the middle of a character. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
