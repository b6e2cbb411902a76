import { defaultOptions, Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs';
import { ADDRESS_MAX_CHARS, isImage, isLink, UNSUBSCRIBE } from './addresses.ts';
import { plainValue } from './print-values.ts';

/**
 * Handles variables in the URL of a link. A value must neither end the URL nor lead elsewhere. At the start of a URL, the value has to be a
 * URL itself. After a complete host it is a part, and encoded as such.
 */

/** The filters that ensure this. They are added when an email is parsed, so authors need not add them. */
export const LINK_WHOLE = 'link_whole';
export const LINK_PART = 'link_part';

/** A piece of an email: literal text, or a place to fill in. */
type Piece = { kind: 'words' | 'output' | 'tag'; text: string; begin: number };

/** Splits a source of valid Liquid into pieces. */
export function piecesOf(source: string): Piece[] {
  const tokens: TopLevelToken[] = new Tokenizer(source).readTopLevelTokens(defaultOptions);
  return tokens.map(({ kind, begin, end }) => ({
    kind: kind === TokenKind.Output ? 'output' : kind === TokenKind.Tag ? 'tag' : 'words',
    text: source.slice(begin, end),
    begin,
  }));
}

/** Represents a place in the URL so far. */
export const PLACE = '\0';
const WHOLE_HOST = /^(?:https?:\/\/[^/?#\0]+[/?#]|\0[/?#]|mailto:)/i;
const OUTPUT = /^(\{\{-?)(.*?)(-?\}\})$/s;
const NAME = /^\s*([\w.-]+)/;

/** Returns the output with the filter that it needs after this part of a URL. Null if the host before it is incomplete. */
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

/** Places do not separate characters here: a value may be empty, and a condition leaves nothing in the text. */
const LINK = /^[^]*\]\0*\(/;
const AUTOMATIC = /^<\0*((?:https?:|mailto:)[^\s<>]*)$/i;

/** Returns the open URL at the end of a Markdown text: of a link, an image or a reference, or in angle brackets. */
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

/** Characters that end a URL outside angle brackets. In Markdown, other white space does not. */
// oxlint-disable-next-line no-control-regex
const GAP = /[\u0001-\u0020\u007F]/;

/** Returns the URL as far as it is written, or null if it has ended. It reads character by character, so that the cost is linear. */
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

/** Returns the URL of `[name]: address`: after a gap, in angle brackets, or directly. */
function definition(text: string): string | null {
  const run = beginOf(text, (sign) => !GAP.test(sign));
  const colon = text.indexOf(']:', run);
  for (const from of [text.lastIndexOf('<'), run, colon === -1 ? -1 : colon + 2]) {
    const before = from !== -1 && isNamed(text.slice(0, from)) ? unclosed(text.slice(from)) : null;
    if (before !== null) return before;
  }
  return null;
}

/** The start of a line before a name. The name may also be in a list, in a quote or after a condition. */
const LINE_BEGINS = /^[\s\0>*+\-\d.)]*$/;

/** Returns whether a text ends with the name of a reference. */
function isNamed(text: string): boolean {
  const close = beginOf(text, (sign) => /[\s\0>]/.test(sign)) - 2;
  if (close < 0 || !text.startsWith(']:', close)) return false;
  // A URL is on the line of its name or on the next one. It is unknown which line breaks a condition removes.
  const gap = text.slice(close);
  if (!gap.includes('\0') && gap.split('\n').length > 2) return false;
  let open = text.lastIndexOf('[', close);
  while (open > 0 && isEscaped(text, open)) open = text.lastIndexOf('[', open - 1);
  return open !== -1 && LINE_BEGINS.test(text.slice(text.lastIndexOf('\n', open) + 1, open));
}

function isEscaped(text: string, at: number): boolean {
  return (at - beginOf(text.slice(0, at), (sign) => sign === '\\')) % 2 === 1;
}

/** Returns where the characters of one kind at the end of a text begin. */
function beginOf(text: string, isOfThem: (sign: string) => boolean): number {
  let begin = text.length;
  while (begin > 0 && isOfThem(text.charAt(begin - 1))) begin -= 1;
  return begin;
}

/** Returns Markdown with filters in its URLs. `at`: the place of a variable before which the host of a link is incomplete. */
export function encodeMarkdownLinks(source: string): { source: string } | { at: number } {
  let written = '';
  let tail = '';
  for (const { kind, text, begin } of piecesOf(source)) {
    const address = kind === 'output' ? openAddress(tail) : null;
    // No URL is longer, and a text with many places is not read again for each.
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

/** A URL, or a part of one, without any characters that are special in Markdown or HTML. */
export class Address {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  /** The form for both Markdown and HTML. */
  get written(): string {
    return this.#address.replaceAll('&', '&amp;');
  }
}

/** Encodes text. Only letters, digits, dots, hyphens, underscores and percent signs remain. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*~]/g, percent);
}

/** `isEncoded`: the author of the email has encoded it already. */
export function linkPart(value: unknown, isEncoded: unknown): Address {
  const text = plainValue(value);
  if (isEncoded === true && /^[\w.%+-]*$/.test(text)) return new Address(text);
  return new Address(encoded(text).replaceAll('%40', '@'));
}

/** Returns null if the value is not the URL of a page, a mailbox or an image. */
export function linkWhole(value: unknown, use: unknown): Address | null {
  const text = plainValue(value);
  if (!URL.canParse(text)) return null;
  const address = new URL(text).href.replace(/[!'()*~[\]|`\\]/g, percent);
  const isFit = use === 'src' ? isImage(address) : isLink(address);
  return isFit && address !== UNSUBSCRIBE ? new Address(address) : null;
}

function percent(sign: string): string {
  return `%${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
}
