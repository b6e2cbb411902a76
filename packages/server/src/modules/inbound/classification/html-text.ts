/**
 * Extracts the readable text of HTML in one pass. It builds no tree, because emails of strangers are nested in ways that make parsers slow.
 * Readable text needs only the ends of blocks and the depth of quotations.
 */
const HTML_CHARS_MAX = 512 * 1024;
const QUOTE_DEPTH_MAX = 5;

const BLOCK = new Set(
  'p div br tr table li ul ol h1 h2 h3 h4 h5 h6 hr blockquote pre section article header footer body'.split(
    ' ',
  ),
);
const SPACED = new Set(['p', 'hr']);
const HIDDEN = new Set(['script', 'style', 'head', 'title', 'template']);
const TAG_NAME = /^[a-z][a-z\d]{0,15}/;
const ENTITY = /&(#x[\da-f]{1,6}|#\d{1,7}|[a-z]{2,8});?/gi;
const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '-',
  mdash: '-',
  rsquo: "'",
  lsquo: "'",
  rdquo: '"',
  ldquo: '"',
  hellip: '...',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
};

export function htmlToText(html: string): string {
  const source = html.slice(0, HTML_CHARS_MAX);
  // Lower-cases ASCII only: other characters may change their length, so that positions would no longer match.
  const lower = source.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
  const page = new Page();
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('<', at);
    page.write(source.slice(at, open < 0 ? source.length : open));
    if (open < 0) break;
    const close = lower.startsWith('<!--', open) ? lower.indexOf('-->', open) + 2 : source.indexOf('>', open);
    // An unfinished tag at the end is not text, and one search for its end is enough.
    if (close < open) break;
    at = close + 1;
    const name = page.tag(lower.slice(open + 1, close));
    if (name === null) continue;
    const end = lower.indexOf(`</${name}`, at);
    if (end < 0) break;
    at = end;
  }
  return page.text();
}

class Page {
  readonly #lines: string[] = [];
  #line = '';
  #depth = 0;

  write(text: string): void {
    if (text === '') return;
    const words = text.replace(/\s+/g, ' ');
    this.#line += this.#line === '' ? words.trimStart() : words;
  }

  /** Returns the name of an element whose content is not readable text. */
  tag(inside: string): string | null {
    const closing = inside.startsWith('/');
    const name = TAG_NAME.exec(closing ? inside.slice(1) : inside)?.[0] ?? '';
    if (BLOCK.has(name)) this.#end();
    if (SPACED.has(name)) this.#space();
    if (name === 'blockquote') this.#depth = Math.max(0, this.#depth + (closing ? -1 : 1));
    return HIDDEN.has(name) && !closing && !inside.endsWith('/') ? name : null;
  }

  text(): string {
    this.#end();
    return this.#lines.join('\n').trim();
  }

  #end(): void {
    if (this.#line.trim() !== '') this.#push(entities(this.#line).trim());
    this.#line = '';
  }

  #space(): void {
    if (this.#lines.at(-1)?.trim() !== '') this.#push('');
  }

  #push(line: string): void {
    this.#lines.push(`${'> '.repeat(Math.min(this.#depth, QUOTE_DEPTH_MAX))}${line}`);
  }
}

function entities(text: string): string {
  return text.replace(ENTITY, (whole, name: string) => {
    if (!name.startsWith('#')) return NAMED[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code < 0x11_00_00 ? String.fromCodePoint(code) : '';
  });
}
