import { ADDRESS_MAX_CHARS, isLink } from './addresses.ts';
import { attributesOf, scanHtml, unescapeHtml } from './html.ts';

/** Converts a page to plain text, with the URL of every link after its text. Also returns these URLs. */
export function plainText(html: string): { text: string; links: string[] } {
  const paper = new Paper();
  scanHtml(html, paper);
  return { text: paper.page.trimEnd(), links: [...paper.links] };
}

/** The number of line breaks before and after a block. */
const GAPS = new Map<string, number>(
  [
    [2, 'p h1 h2 h3 h4 h5 h6 blockquote pre table hr'],
    [1, 'div tr center section article header footer main nav address figure dl dt dd li caption'],
  ].flatMap(([gap, names]) =>
    String(names)
      .split(' ')
      .map((name): [string, number] => [name, Number(gap)]),
  ),
);
const VOID = new Set('area base br col hr img input link meta source wbr'.split(' '));
const LISTS = new Set(['ul', 'ol']);
/** Separates cells of a row. */
const BAR = ' | ';
const QUOTE = '> ';

/** The maximum indentation of quotes and list items. Without a limit every line of a nested page would repeat all of its margins. */
const QUOTES_MAX = 5;
const MARGINS_MAX = 10;
const MARGIN_MAX_CHARS = 4;

class Paper {
  readonly links = new Set<string>();
  /** The page so far. It is joined once, because reading the end of a growing string copies the whole string each time. */
  readonly #pieces: string[] = [];
  #length = 0;
  #gap = 0;
  #isSpaced = false;
  /** The nesting depth within hidden elements. */
  #hidden = 0;
  #pre = 0;
  /** The start of every line. On the next line `#marker` replaces the last of these. */
  readonly #margins: string[] = [];
  /** Open quotes and items that are nested too deeply to have a margin. */
  #unindented = 0;
  #marker = '';
  /** The start of the last line. */
  #before: string[] = [];
  /** The number of the last item of each list. Null for lists without numbers. */
  readonly #lists: (number | null)[] = [];
  /** True for a table that is only used for layout. */
  readonly #tables: boolean[] = [];
  readonly #opened: { address: string; from: number }[] = [];

  get page(): string {
    return this.#pieces.join('');
  }

  text(raw: string): void {
    if (this.#hidden > 0) return;
    if (this.#pre > 0) return this.#asItIs(unescapeHtml(raw));
    const words = unescapeHtml(raw.replace(/[ \t\r\n\f]+/g, ' '));
    if (words === ' ' && this.#endsWithBar()) return;
    const bare = words.replace(/^ | $/g, '');
    if (words.startsWith(' ')) this.#isSpaced = true;
    if (bare === '') return;
    this.#put(bare.replaceAll('\u00A0', ' '));
    this.#isSpaced = words.endsWith(' ');
  }

  open(name: string, tag: string): void {
    if (this.#hidden > 0 || isHidden(tag)) {
      if (!VOID.has(name)) this.#hidden += 1;
      return;
    }
    this.#apart(name);
    if (name === 'br') this.#breakLine();
    else if (name === 'hr') this.#put('---');
    else if (name === 'img') this.#image(attributesOf(tag));
    else if (name === 'a') this.#openLink(attributesOf(tag).get('href') ?? '');
    else if (name === 'table') this.#tables.push(/\brole\s*=\s*["']?presentation/i.test(tag));
    else this.#openBlock(name, tag);
    if (name === 'hr') this.#apart(name);
  }

  close(name: string): void {
    if (this.#hidden > 0) {
      if (!VOID.has(name)) this.#hidden -= 1;
      return;
    }
    if (name === 'a') this.#closeLink();
    if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1);
    if (name === 'blockquote' || name === 'li') this.#outdent();
    if (name === 'li') this.#marker = '';
    if (LISTS.has(name)) this.#lists.pop();
    this.#apart(name);
    if (name === 'table') this.#tables.pop();
  }

  #openBlock(name: string, tag: string): void {
    if (name === 'pre') this.#pre += 1;
    if (name === 'blockquote') this.#indent(QUOTE);
    if (name === 'ul') this.#lists.push(null);
    if (name === 'ol') this.#lists.push(Number(attributesOf(tag).get('start') ?? 1) - 1);
    if (name === 'li') this.#openItem();
  }

  #openItem(): void {
    const last = this.#lists.at(-1) ?? null;
    if (last !== null) this.#lists[this.#lists.length - 1] = last + 1;
    this.#marker = last === null ? '- ' : `${last + 1}. `;
    this.#indent(' '.repeat(Math.min(this.#marker.length, MARGIN_MAX_CHARS)));
    if (this.#unindented > 0) this.#marker = '';
  }

  #indent(margin: string): void {
    const isTooDeep =
      this.#margins.length >= MARGINS_MAX ||
      (margin === QUOTE && this.#margins.filter((entry) => entry === QUOTE).length >= QUOTES_MAX);
    if (this.#unindented > 0 || isTooDeep) this.#unindented += 1;
    else this.#margins.push(margin);
  }

  #outdent(): void {
    if (this.#unindented > 0) this.#unindented -= 1;
    else this.#margins.pop();
  }

  /** Puts cells of a data table next to each other. Cells of a layout table are the layout itself. */
  #apart(name: string): void {
    const isCell = name === 'td' || name === 'th';
    if (isCell && this.#tables.at(-1) === false) {
      if (this.#gap === 0 && this.#length > 0 && !this.#endsWithBar()) this.#write(BAR);
      this.#isSpaced = false;
      return;
    }
    const gap = isCell ? 2 : LISTS.has(name) ? (this.#lists.length > 0 ? 1 : 2) : (GAPS.get(name) ?? 0);
    this.#gap = Math.max(this.#gap, gap);
  }

  #breakLine(): void {
    this.#gap = Math.min(2, this.#gap + 1);
  }

  #put(words: string): void {
    if (this.#length === 0) this.#write(this.#margin());
    else if (this.#gap > 0) this.#newLine();
    else if (this.#isSpaced) this.#write(' ');
    this.#write(words);
    this.#gap = 0;
    this.#isSpaced = false;
  }

  #write(text: string): void {
    if (text === '') return;
    this.#pieces.push(text);
    this.#length += text.length;
  }

  #endsWithBar(): boolean {
    return this.#pieces.at(-1) === BAR;
  }

  #newLine(): void {
    const same = this.#margins.findIndex((margin, at) => margin !== this.#before[at]);
    const between = (same === -1 ? this.#margins : this.#margins.slice(0, same)).join('').trimEnd();
    if (this.#endsWithBar()) {
      this.#pieces.pop();
      this.#length -= BAR.length;
    }
    this.#write(`\n${this.#gap > 1 ? `${between}\n` : ''}${this.#margin()}`);
  }

  #margin(): string {
    const margin = this.#marker === '' ? this.#margins : [...this.#margins.slice(0, -1), this.#marker];
    this.#marker = '';
    this.#before = [...this.#margins];
    return margin.join('');
  }

  #asItIs(words: string): void {
    for (const [at, line] of words.replace(/\n$/, '').split('\n').entries()) {
      if (at > 0) this.#gap = Math.max(this.#gap, 1);
      this.#isSpaced = false;
      this.#put(line);
    }
  }

  #image(attributes: Map<string, string>): void {
    const isPixel = [attributes.get('width'), attributes.get('height')].some((size) =>
      /^[012]$/.test(size ?? ''),
    );
    const alt = unescapeHtml(attributes.get('alt') ?? '').trim();
    if (!isPixel && alt !== '') this.#put(alt);
  }

  #openLink(href: string): void {
    this.#opened.push({ address: unescapeHtml(href).trim(), from: this.#length });
  }

  #closeLink(): void {
    const { address, from } = this.#opened.pop() ?? { address: '', from: 0 };
    if (!isLink(address)) return;
    this.links.add(address);
    const words = this.#since(from)?.trim();
    if (words === address || (words !== undefined && `mailto:${words}` === address)) return;
    this.#isSpaced = words !== '' || this.#isSpaced;
    this.#put(`[${address}]`);
  }

  /** Returns the text after an offset. Undefined if it is longer than any URL, so that it is not compared with one. */
  #since(from: number): string | undefined {
    let missing = this.#length - from;
    if (missing > ADDRESS_MAX_CHARS) return undefined;
    const pieces: string[] = [];
    for (let at = this.#pieces.length - 1; missing > 0 && at >= 0; at -= 1) {
      const piece = this.#pieces[at] ?? '';
      pieces.push(missing < piece.length ? piece.slice(-missing) : piece);
      missing -= piece.length;
    }
    return pieces.toReversed().join('');
  }
}

function isHidden(tag: string): boolean {
  return tag.includes('none') && /\bdisplay\s*:\s*none/i.test(attributesOf(tag).get('style') ?? '');
}
