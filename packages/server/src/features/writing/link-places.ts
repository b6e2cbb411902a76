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

/** The address that a text of Markdown ends in the middle of: of a link, of an image, or between angle brackets. */
function openAddress(text: string): OpenAddress | null {
  const link = text.lastIndexOf('](');
  const before = /^\s*<?([^\s()<>]*)$/.exec(text.slice(link + 2))?.[1];
  if (link !== -1 && before !== undefined) {
    const bracket = text.lastIndexOf('[', link);
    return { before, use: text[bracket - 1] === '!' ? 'src' : 'href' };
  }
  const automatic = /^<((?:https?:|mailto:)[^\s<>]*)$/i.exec(text.slice(text.lastIndexOf('<')))?.[1];
  return automatic === undefined ? null : { before: automatic, use: 'href' };
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
