import { escapeHtml } from './html-text.ts';

/**
 * What a person's traits and events become on paper. They are a stranger's words: in the body they must stay words, whatever
 * Markdown or HTML they spell, and everywhere they stay on their line.
 */

/** Of one value; a longer one is cut. */
const VALUE_MAX_CHARS = 2_000;
/** Of a value before it is cleaned, so that cleaning takes a bounded time. Invisible characters and repeated spaces are removed then. */
const CLEANED_MAX_CHARS = 2 * VALUE_MAX_CHARS;
const DEEPEST = 4;

/** Characters that show nothing, or turn the direction of what stands beside them. Joiners stay: emoji and Persian need them. */
const INVISIBLE = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;
/** White space, except the no-break spaces that French and other locales put between groups of digits. */
const GAPS = /(?:[^\S\u00A0\u202F]|\p{Cc})+/gu;
const VISIBLE = /[^\s\p{Cc}\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/u;
/** Most values are plain words, in which there is nothing to clean and nothing to escape. */
const WORDS = /^\p{L}[\p{L}\p{N}]*(?: [\p{L}\p{N}]+)*$/u;

export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/** One line of text; empty for what has no words of its own, such as an object. */
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

/** As text and within quotes alike. */
export function htmlValue(value: unknown): string {
  return escapeHtml(plainValue(value));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Renders as the very same words. HTML becomes entities, so that it stays words also within HTML of the letter's own. Inside
 * a word an underscore means nothing, and plans are named `pro_monthly`. At its beginning a value must not make of its line
 * a list, a heading or the underline of one, nor complete a link that the letter's own brackets began; at its end, no image.
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

/** Never through the middle of a character. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
