import { isLink } from './addresses.ts';
import { unescapeHtml } from './html-text.ts';
import { attributesOf, scanHtml } from './scan-html.ts';

/** A page as plain text, with the address of every link behind its words; and these addresses. */
export function plainText(html: string): { text: string; links: string[] } {
  const paper = new Paper();
  scanHtml(html, paper);
  return { text: paper.page.trimEnd(), links: [...paper.links] };
}

/** How many lines' ends stand before and behind a block. */
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
/** Between cells that stand beside each other. */
const BAR = ' | ';

class Paper {
  page = '';
  readonly links = new Set<string>();
  #gap = 0;
  #isSpaced = false;
  /** How deep it is within something that is not shown. */
  #hidden = 0;
  #pre = 0;
  /** What every line begins with; and what the next one begins with in place of the last of these. */
  readonly #margins: string[] = [];
  #marker = '';
  /** What the last line began with. */
  #before: string[] = [];
  /** The number of the last item; null where they have none. */
  readonly #lists: (number | null)[] = [];
  /** Whether a table only lays out. */
  readonly #tables: boolean[] = [];
  readonly #opened: { address: string; from: number }[] = [];

  text(raw: string): void {
    if (this.#hidden > 0) return;
    if (this.#pre > 0) return this.#asItIs(unescapeHtml(raw));
    const words = unescapeHtml(raw.replace(/[ \t\r\n\f]+/g, ' '));
    if (words === ' ' && this.page.endsWith(BAR)) return;
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
    if (name === 'blockquote' || name === 'li') this.#margins.pop();
    if (name === 'li') this.#marker = '';
    if (LISTS.has(name)) this.#lists.pop();
    this.#apart(name);
    if (name === 'table') this.#tables.pop();
  }

  #openBlock(name: string, tag: string): void {
    if (name === 'pre') this.#pre += 1;
    if (name === 'blockquote') this.#margins.push('> ');
    if (name === 'ul') this.#lists.push(null);
    if (name === 'ol') this.#lists.push(Number(attributesOf(tag).get('start') ?? 1) - 1);
    if (name === 'li') this.#openItem();
  }

  #openItem(): void {
    const last = this.#lists.at(-1) ?? null;
    if (last !== null) this.#lists[this.#lists.length - 1] = last + 1;
    this.#marker = last === null ? '- ' : `${last + 1}. `;
    this.#margins.push(' '.repeat(this.#marker.length));
  }

  /** Cells of a table of data stand beside each other; those of a layout are what is laid out. */
  #apart(name: string): void {
    const isCell = name === 'td' || name === 'th';
    if (isCell && this.#tables.at(-1) === false) {
      if (this.#gap === 0 && this.page !== '' && !this.page.endsWith(BAR)) this.page += BAR;
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
    if (this.page === '') this.page = this.#margin();
    else if (this.#gap > 0) this.#newLine();
    else if (this.#isSpaced) this.page += ' ';
    this.page += words;
    this.#gap = 0;
    this.#isSpaced = false;
  }

  #newLine(): void {
    const same = this.#margins.findIndex((margin, at) => margin !== this.#before[at]);
    const between = (same === -1 ? this.#margins : this.#margins.slice(0, same)).join('').trimEnd();
    if (this.page.endsWith(BAR)) this.page = this.page.slice(0, -BAR.length);
    this.page += `\n${this.#gap > 1 ? `${between}\n` : ''}${this.#margin()}`;
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
    this.#opened.push({ address: unescapeHtml(href).trim(), from: this.page.length });
  }

  #closeLink(): void {
    const { address, from } = this.#opened.pop() ?? { address: '', from: 0 };
    if (!isLink(address)) return;
    this.links.add(address);
    const words = this.page.slice(from).trim();
    if (words === address || `mailto:${words}` === address) return;
    this.#isSpaced = words !== '' || this.#isSpaced;
    this.#put(`[${address}]`);
  }
}

function isHidden(tag: string): boolean {
  return tag.includes('none') && /\bdisplay\s*:\s*none/i.test(attributesOf(tag).get('style') ?? '');
}
