import { linesOf } from './fields.ts';
import type { InboundMail } from './mail.ts';
import {
  closesAttribution,
  isHeaderLine,
  isMobileSignature,
  isSeparator,
  opensAttribution,
  startsHeader,
} from './reply-phrases.ts';

const TEXT_CHARS_MAX = 64 * 1024;
const LINE_CHARS_MAX = 2_000;
const SNIPPET_CHARS_MAX = 500;

/**
 * Returns the human-written text, without the signature and without quotations; if nothing is left, the whole text. A quotation of one line
 * above human-written words stays, with its attribution: "> Friday?" gives "Yes" its meaning.
 *
 * It is one pass, in which each line checks a few lines after it, so the cost is linear in the length of the text.
 */
export function replyText({ text }: Pick<InboundMail, 'text'>): string {
  const whole = linesOf(text.slice(0, TEXT_CHARS_MAX)).map((line) => line.slice(0, LINE_CHARS_MAX).trimEnd());
  const kept: string[] = [];
  let quotation: string[] = [];
  for (let i = 0; i < whole.length; i++) {
    const line = whole[i] ?? '';
    const attribution = linesOfAttribution(whole, i);
    if (endsReply(whole, i, attribution)) break;
    if (attribution > 0 || isQuoted(line) || (line === '' && quotation.length > 0)) {
      const length = Math.max(attribution, 1);
      quotation.push(...whole.slice(i, i + length));
      i += length - 1;
    } else if (!isMobileSignature(line)) {
      kept.push(...keptQuotation(quotation), line);
      quotation = [];
    }
  }
  const own = tidy(kept);
  return own === '' ? tidy(whole) : own;
}

/** A signature, a copied email, or a quotation without marks on its lines continues to the end. */
function endsReply(lines: string[], at: number, attribution: number): boolean {
  const line = lines[at] ?? '';
  if (isSignatureMark(line) || isSeparator(line) || beginsHeader(lines, at)) return true;
  return attribution > 0 && !quoteFollows(lines, at + attribution);
}

/** Returns a short quotation unchanged, and otherwise the paragraph break that it leaves. */
function keptQuotation(quotation: string[]): string[] {
  if (quotation.filter((line) => /^\s{0,3}>[\s>]*[^\s>]/.test(line)).length === 1) return quotation;
  return quotation.includes('') ? [''] : [];
}

/** Returns the text as one line. */
export function snippetOf(text: string): string {
  const line = text
    .slice(0, TEXT_CHARS_MAX)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const cut = line.slice(0, SNIPPET_CHARS_MAX);
  // Removes half of a surrogate pair.
  return line.length > cut.length ? cut.replace(/[\uD800-\uDBFF]$/, '').trimEnd() : line;
}

/** RFC 3676 requires a space after the mark, which many programs drop. */
function isSignatureMark(line: string): boolean {
  return line === '--' || line === '—';
}

function isQuoted(line: string): boolean {
  return /^\s{0,3}>/.test(line);
}

const ATTRIBUTION_LINES_MAX = 4;

/**
 * Returns the number of lines of an attribution such as "On Monday, Ada wrote:", which may be broken over a few lines; 0 if none begins
 * here.
 */
function linesOfAttribution(lines: string[], from: number): number {
  const first = lines[from] ?? '';
  if (isQuoted(first) || !opensAttribution(first)) return 0;
  for (let i = 0; i < ATTRIBUTION_LINES_MAX; i++) {
    const line = lines[from + i] ?? '';
    if (line.trim() === '') return 0;
    if (closesAttribution(line)) return i + 1;
  }
  return 0;
}

const LINES_TO_QUOTE_MAX = 3;

function quoteFollows(lines: string[], from: number): boolean {
  const next = lines.slice(from, from + LINES_TO_QUOTE_MAX).find((line) => line.trim() !== '');
  return next !== undefined && isQuoted(next);
}

const HEADER_LINES_MAX = 6;
const HEADER_LINES_MIN = 2;

/** Detects the header that Outlook copies above a quotation. */
function beginsHeader(lines: string[], from: number): boolean {
  if (!startsHeader(lines[from] ?? '')) return false;
  return lines.slice(from + 1, from + HEADER_LINES_MAX).filter(isHeaderLine).length >= HEADER_LINES_MIN;
}

function tidy(lines: string[]): string {
  const sparse = lines.filter((line, i) => line !== '' || lines[i - 1] !== '');
  return sparse.join('\n').trim();
}
