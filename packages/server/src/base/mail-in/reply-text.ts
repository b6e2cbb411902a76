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
 * What the person wrote, without what is quoted and without the signature; if nothing is left, all of it. One pass over the
 * lines, of which each looks at a few that follow it: a text that is made to be slow costs what its length costs.
 */
export function replyText({ text }: Pick<InboundMail, 'text'>): string {
  const whole = linesOf(text.slice(0, TEXT_CHARS_MAX)).map((line) => line.slice(0, LINE_CHARS_MAX).trimEnd());
  const kept: string[] = [];
  for (let i = 0; i < whole.length; i++) {
    const line = whole[i] ?? '';
    if (isSignatureMark(line) || isSeparator(line) || beginsHeader(whole, i)) break;
    const attribution = linesOfAttribution(whole, i);
    // Below it stands what is quoted. Where that is marked line by line, an answer may stand between and beneath.
    if (attribution > 0 && !quoteFollows(whole, i + attribution)) break;
    if (attribution > 0) i += attribution - 1;
    else if (!isQuoted(line) && !isMobileSignature(line)) kept.push(line);
  }
  const own = tidy(kept);
  return own === '' ? tidy(whole) : own;
}

/** On one line. */
export function snippetOf(text: string): string {
  const line = text
    .slice(0, TEXT_CHARS_MAX)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const cut = line.slice(0, SNIPPET_CHARS_MAX);
  // Half of a sign that takes two is none.
  return line.length > cut.length ? cut.replace(/[\uD800-\uDBFF]$/, '').trimEnd() : line;
}

/** RFC 3676 has a space behind it, which many programs lose. */
function isSignatureMark(line: string): boolean {
  return line === '--' || line === '—';
}

function isQuoted(line: string): boolean {
  return /^\s{0,3}>/.test(line);
}

const ATTRIBUTION_LINES_MAX = 4;

/** "On Monday, Ada wrote:", broken over a few lines where it is long; 0 where none begins. */
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

/** The header that Outlook copies above what it quotes. */
function beginsHeader(lines: string[], from: number): boolean {
  if (!startsHeader(lines[from] ?? '')) return false;
  return lines.slice(from + 1, from + HEADER_LINES_MAX).filter(isHeaderLine).length >= HEADER_LINES_MIN;
}

function tidy(lines: string[]): string {
  const sparse = lines.filter((line, i) => line !== '' || lines[i - 1] !== '');
  return sparse.join('\n').trim();
}
