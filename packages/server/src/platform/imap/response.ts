import type { ByteSource } from './byte-source.ts';
import { protocolError } from './imap-error.ts';

/** One response of a server: text, and between its pieces the literals that it announced. */
export type ImapResponse = (string | Buffer)[];

/** A value of a response: an atom or a quoted string, a literal, or a list of them. */
export type ImapValue = string | Buffer | ImapValue[];

/** A SEARCH that names all emails of the largest window fits into a line of this length. */
const LINE_MAX_BYTES = 256 * 1024;
const LITERALS_MAX = 100;
const LITERAL = /~?\{(\d{1,10})\+?\}$/;

/** Reads one response. Its text and its literals have at most `maxBytes` together. */
export async function readResponse(source: ByteSource, maxBytes: number): Promise<ImapResponse> {
  const parts: ImapResponse = [];
  let left = maxBytes;
  for (let literals = 0; ; literals += 1) {
    const line = await source.line(Math.min(LINE_MAX_BYTES, left));
    left -= line.length;
    const text = line.toString('latin1');
    const [marker = '', digits] = LITERAL.exec(text) ?? [];
    if (digits === undefined) return [...parts, text];
    const size = Number(digits);
    // A server that announces too much is not read any further.
    if (size > left) throw protocolError(`it announces ${size} bytes, more than the expected ${left}`);
    if (literals >= LITERALS_MAX) throw protocolError('a response has too many literals');
    left -= size;
    parts.push(text.slice(0, text.length - marker.length), await source.take(size));
  }
}

/** Returns the text of a response up to its first literal. */
export function textOf([first]: ImapResponse): string {
  return typeof first === 'string' ? first : '';
}

const DEPTH_MAX = 20;
const TOKEN = /[ \t]*(?:([()])|"((?:[^"\\]|\\.)*)"|([^ \t()"]+))/y;

/** Parses a response into its values. Throws if its parentheses or quotes do not match. */
export function parseResponse(response: ImapResponse): ImapValue[] {
  const root: ImapValue[] = [];
  const open: ImapValue[][] = [root];
  const top = (): ImapValue[] => open.at(-1) ?? root;
  for (const part of response) {
    if (typeof part === 'string') readText(part, open, top);
    else top().push(part);
  }
  if (open.length !== 1) throw protocolError('a parenthesis is not closed');
  return root;
}

function readText(text: string, open: ImapValue[][], top: () => ImapValue[]): void {
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const [, parenthesis, quoted, atom] = TOKEN.exec(text) ?? [];
    if (parenthesis === '(') {
      if (open.length > DEPTH_MAX) throw protocolError('lists are nested too deep');
      const list: ImapValue[] = [];
      top().push(list);
      open.push(list);
    } else if (parenthesis === ')') {
      if (open.length === 1) throw protocolError('a parenthesis is not opened');
      open.pop();
    } else if (quoted !== undefined) top().push(quoted.replaceAll(/\\(.)/g, '$1'));
    else if (atom !== undefined) top().push(atom);
    else throw protocolError('a quote is not closed');
  }
}

/** Returns the items of a FETCH response by name in upper case. Null for any other response. */
export function fetchItems(response: ImapResponse): Map<string, ImapValue> | null {
  if (!/^\* \d{1,10} FETCH /i.test(textOf(response))) return null;
  const [, , , list] = parseResponse(response);
  if (!Array.isArray(list)) throw protocolError('FETCH has no list');
  const items = new Map<string, ImapValue>();
  for (let at = 0; at + 1 < list.length; at += 2) {
    const [name, value] = [list[at], list[at + 1]];
    if (typeof name === 'string' && value !== undefined) items.set(name.toUpperCase(), value);
  }
  return items;
}

const UID_MAX = 4_294_967_295;

/** Returns a UID, a UIDVALIDITY or a size; null for anything else. */
export function readNumber(value: ImapValue | undefined): number | null {
  if (typeof value !== 'string' || !/^\d{1,10}$/.test(value)) return null;
  const number = Number(value);
  return number <= UID_MAX ? number : null;
}

/** Returns the UIDs of a SEARCH response. Null for any other response. */
export function searchUids(response: ImapResponse): number[] | null {
  const text = textOf(response);
  if (!/^\* SEARCH(?: |$)/i.test(text)) return null;
  return text
    .slice('* SEARCH'.length)
    .split(' ')
    .flatMap((word) => readNumber(word) ?? []);
}
