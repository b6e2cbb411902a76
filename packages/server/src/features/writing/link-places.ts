import { defaultOptions, TokenKind, Tokenizer, type TopLevelToken } from 'liquidjs';
import { ADDRESS_MAX_CHARS } from './addresses.ts';

/**
 * Where a variable stands in the address of a link. What it holds must neither end the address nor lead elsewhere: where the
 * address begins with it, it has to be one itself; behind a whole host it is a part, and written as such.
 */

/** The filters that see to it. They are put there when a letter is parsed, so nobody has to think of them. */
export const LINK_WHOLE = 'link_whole';
export const LINK_PART = 'link_part';

/** A piece of a letter: its own words, or a place to fill in. */
export type Piece = { kind: 'words' | 'output' | 'tag'; text: string; begin: number };

/** Of Liquid that can be parsed. */
export function piecesOf(source: string): Piece[] {
  const tokens: TopLevelToken[] = new Tokenizer(source).readTopLevelTokens(defaultOptions);
  return tokens.map(({ kind, begin, end }) => ({
    kind: kind === TokenKind.Output ? 'output' : kind === TokenKind.Tag ? 'tag' : 'words',
    text: source.slice(begin, end),
    begin,
  }));
}

/** Stands for a place in the address so far. */
export const PLACE = '\0';
const WHOLE_HOST = /^(?:https?:\/\/[^/?#\0]+[/?#]|\0[/?#]|mailto:)/i;
const OUTPUT = /^(\{\{-?)(.*?)(-?\}\})$/s;
const NAME = /^\s*([\w.-]+)/;

/** With the filter that it needs behind this much of an address; null where its host would not be whole. */
export function inAddress(output: string, { before, use }: OpenAddress): string | null {
  const [, open = '', expression = '', close = ''] = OUTPUT.exec(output) ?? [];
  if (before === '') {
    const name = NAME.exec(expression)?.[1] ?? 'link';
    return `${open}${expression.trimEnd()} | ${LINK_WHOLE}: "${name}", "${use}" ${close}`;
  }
  if (!WHOLE_HOST.test(before)) return null;
  const isEncoded = /\|\s*url_encode\s*$/.test(expression);
  return `${open}${expression.trimEnd()} | ${LINK_PART}${isEncoded ? ': true' : ''} ${close}`;
}

type OpenAddress = { before: string; use: 'href' | 'src' };

/** Whether a value between two signs is there is not known, and a condition leaves nothing behind: places do not part them. */
const LINK = /^[^]*\]\0*\(/;
const AUTOMATIC = /^<\0*((?:https?:|mailto:)[^\s<>]*)$/i;

/** The address that a text of Markdown ends in the middle of: of a link, an image or a reference, or between angle brackets. */
function openAddress(text: string): OpenAddress | null {
  const link = LINK.exec(text)?.[0].length ?? 0;
  const before = link === 0 ? null : unclosed(text.slice(link));
  if (before !== null) {
    const bracket = text.lastIndexOf('[', link);
    return { before, use: text[bracket - 1] === '!' ? 'src' : 'href' };
  }
  const other = definition(text) ?? AUTOMATIC.exec(text.slice(text.lastIndexOf('<')))?.[1] ?? null;
  return other === null ? null : { before: other, use: 'href' };
}

/** What ends an address that stands in no angle brackets; of other white space Markdown does not say so. */
// oxlint-disable-next-line no-control-regex
const GAP = /[\u0001-\u0020\u007F]/;

/** An address as far as it is written; null where it is over. Sign by sign, so that no text costs more than its length. */
function unclosed(text: string): string | null {
  const written = text.trimStart();
  const isAngled = written.startsWith('<');
  const ends = isAngled ? /[<>\n]/ : GAP;
  const begin = isAngled ? 1 : 0;
  let depth = 0;
  for (let at = begin; at < written.length; at += 1) {
    const sign = written.charAt(at);
    if (ends.test(sign)) return null;
    if (sign === '\\') at += 1;
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth < 0 && !isAngled) return null;
  }
  return written.slice(begin);
}

/** Of `[name]: address`: behind a gap, in angle brackets, or at once. */
function definition(text: string): string | null {
  const run = beginOf(text, (sign) => !GAP.test(sign));
  const colon = text.indexOf(']:', run);
  for (const from of [text.lastIndexOf('<'), run, colon === -1 ? -1 : colon + 2]) {
    const before = from !== -1 && isNamed(text.slice(0, from)) ? unclosed(text.slice(from)) : null;
    if (before !== null) return before;
  }
  return null;
}

/** How a line may begin in front of a name: it may also stand in a list, in a quotation or behind a condition. */
const LINE_BEGINS = /^[\s\0>*+\-\d.)]*$/;

/** Whether a text ends with the name of a reference. */
function isNamed(text: string): boolean {
  const close = beginOf(text, (sign) => /[\s\0>]/.test(sign)) - 2;
  if (close < 0 || !text.startsWith(']:', close)) return false;
  // An address stands on the line of its name or on the next one; what a condition takes away of the lines nobody knows.
  const gap = text.slice(close);
  if (!gap.includes('\0') && gap.split('\n').length > 2) return false;
  let open = text.lastIndexOf('[', close);
  while (open > 0 && isEscaped(text, open)) open = text.lastIndexOf('[', open - 1);
  return open !== -1 && LINE_BEGINS.test(text.slice(text.lastIndexOf('\n', open) + 1, open));
}

function isEscaped(text: string, at: number): boolean {
  return (at - beginOf(text.slice(0, at), (sign) => sign === '\\')) % 2 === 1;
}

/** Where the signs of a kind begin with which a text ends. */
function beginOf(text: string, isOfThem: (sign: string) => boolean): number {
  let begin = text.length;
  while (begin > 0 && isOfThem(text.charAt(begin - 1))) begin -= 1;
  return begin;
}

/** Markdown as it is parsed. `at`: where the address of a link is not whole before a variable stands in it. */
export function markdownPlaces(source: string): { source: string } | { at: number } {
  let written = '';
  let tail = '';
  for (const { kind, text, begin } of piecesOf(source)) {
    const address = kind === 'output' ? openAddress(tail) : null;
    // No address is longer, and a text of many places is not gone through anew for each.
    tail = (tail + (kind === 'words' ? text : PLACE)).slice(-ADDRESS_MAX_CHARS);
    if (address === null) {
      written += text;
      continue;
    }
    const placed = inAddress(text, address);
    if (placed === null) return { at: begin };
    written += placed;
  }
  return { source: written };
}
