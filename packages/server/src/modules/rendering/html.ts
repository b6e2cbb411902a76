/** Receives the contents of a page in order. `tag` is a tag without its brackets, for `attributesOf`. It begins at `at`. */
type Reader = {
  text(raw: string): void;
  open(name: string, tag: string, at: number): void;
  close(name: string): void;
};

/**
 * Reads a page in one pass, distinguishing tags from text as a browser does. No part is searched twice, so the time grows linearly with the
 * length for any page. Invisible contents, such as styles and comments, are not reported.
 */
export function scanHtml(html: string, reader: Reader): void {
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) return reader.text(html.slice(at));
    if (open > at) reader.text(html.slice(at, open));
    at = readMarkup(html, open, reader);
  }
}

const [BANG, QUESTION, SLASH, DOUBLE, SINGLE, GREATER] = [33, 63, 47, 34, 39, 62];
const UNSEEN = new Map(
  ['head', 'style', 'script', 'title', 'template', 'noscript'].map((name) => [
    name,
    new RegExp(`</${name}[\\s/>]`, 'gi'),
  ]),
);

/** Returns the position after markup that begins with a `<`. An unclosed comment or tag extends to the end of the page. */
function readMarkup(html: string, open: number, reader: Reader): number {
  if (html.startsWith('<!--', open)) return behind(html, '-->', open + 2);
  const next = html.charCodeAt(open + 1);
  if (next === BANG || next === QUESTION) return behind(html, '>', open);
  const from = open + (next === SLASH ? 2 : 1);
  if (!isAsciiLetter(html.charCodeAt(from))) {
    reader.text('<');
    return open + 1;
  }
  const end = endOfTag(html, from);
  if (end === -1) return html.length;
  const tag = html.slice(from, end);
  const name = (/^[^\s/]+/.exec(tag)?.[0] ?? '').toLowerCase();
  const closing = UNSEEN.get(name);
  if (next === SLASH) reader.close(name);
  else if (closing) return behindElement(html, closing, end);
  else reader.open(name, tag, from);
  return end + 1;
}

function isAsciiLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function behind(html: string, sign: string, from: number): number {
  const at = html.indexOf(sign, from);
  return at === -1 ? html.length : at + sign.length;
}

function behindElement(html: string, closing: RegExp, from: number): number {
  closing.lastIndex = from;
  const found = closing.exec(html);
  return found === null ? html.length : behind(html, '>', found.index);
}

function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at);
    if (code === GREATER) return at;
    if (code !== DOUBLE && code !== SINGLE) continue;
    at = html.indexOf(code === DOUBLE ? '"' : "'", at + 1);
    if (at === -1) return -1;
  }
  return -1;
}

const ATTRIBUTE = /([^\s=/"'<>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"']+))?/g;

/** Returns attributes as they are written, with entities. */
export function attributesOf(tag: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const { name, value } of attributeRanges(tag)) if (!attributes.has(name)) attributes.set(name, value);
  return attributes;
}

/** The range of the value within the tag, including quotes. */
type AttributeRange = { name: string; value: string; from: number; to: number };

export function attributeRanges(tag: string): AttributeRange[] {
  return Array.from(tag.matchAll(ATTRIBUTE), ({ index, 0: all, 1: name = '', 2: value = '' }) => ({
    name: name.toLowerCase(),
    value: /^["']/.test(value) ? value.slice(1, -1) : value,
    from: index + all.length - value.length,
    to: index + all.length,
  }));
}

/** Extends to the end if it is not closed, so that it is searched only once. */
const BODY = /<body\b(?:[^>"']|"[^"]*(?:"|$)|'[^']*(?:'|$))*(>|$)/i;

/** Splits a page into its body and what surrounds it. A fragment is all body. */
export function partsOfPage(page: string): { before: string; inside: string; behind: string } {
  const start = BODY.exec(page);
  const from = start?.[1] === '>' ? start.index + start[0].length : 0;
  // Not in a lower-case copy: `İ` is longer there, which would move the position.
  const end = Array.from(page.matchAll(/<\/body/gi)).at(-1)?.index ?? -1;
  const to = end < from ? page.length : end;
  return { before: page.slice(0, from), inside: page.slice(from, to), behind: page.slice(to) };
}

const SIGNS: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text, also for attributes in either kind of quotes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign) : text;
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };

/** Decodes only these entities. HTML that we write or store has no others. */
export function unescapeHtml(html: string): string {
  if (!html.includes('&')) return html;
  return html.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g,
    (all, ...found) => {
      const [decimal, hex, name] = found as (string | undefined)[];
      if (name !== undefined) return NAMED[name] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : '\uFFFD';
    },
  );
}
