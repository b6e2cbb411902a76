import { isLink } from './addresses.ts';
import { escapeHtml, unescapeHtml } from './html-text.ts';
import { attributePlaces, partsOfPage, scanHtml } from './scan-html.ts';

/** What stands in a letter so that it is heard of; null: not that. */
export type Marks = {
  /** The address that leads on to the link of this number. */
  linkOf: ((number: number) => string) | null;
  /** Where the link that no person sees leads. */
  trapOf: ((number: number) => string) | null;
  pixel: string | null;
  /** Links that begin so are never changed: they are about the letter itself. */
  ownPrefix: string;
};

/** The letter with its marks, and where its links led, in the order of their numbers. */
export type Marked = { html: string; urls: string[] };

/** More links of one letter are left as they are. */
const LINKS_MAX = 100;

/** Of a page that is written already. Whoever reads its plain text reads the real addresses. */
export function trackLinks(html: string, marks: Marks): Marked {
  const { page, urls } = marks.linkOf
    ? withLinks(html, marks.linkOf, marks.ownPrefix)
    : { page: html, urls: [] };
  const trap =
    urls.length > 0 && marks.trapOf ? TRAP.replace('%', escapeHtml(marks.trapOf(urls.length))) : '';
  const pixel = marks.pixel === null ? '' : PIXEL.replace('%', escapeHtml(marks.pixel));
  if (trap === '' && pixel === '') return { html: page, urls };
  const { before, inside, behind } = partsOfPage(page);
  return { html: `${before}${inside}${trap}${pixel}${behind}`, urls };
}

const TRAP = '<a href="%" style="display:none;mso-hide:all;" aria-hidden="true" tabindex="-1"></a>';
const PIXEL =
  '<img src="%" alt="" width="1" height="1" style="display:block;border:0;width:1px;height:1px;">';

function withLinks(
  html: string,
  linkOf: (number: number) => string,
  ownPrefix: string,
): { page: string; urls: string[] } {
  const numbers = new Map<string, number>();
  const pieces: string[] = [];
  let written = 0;
  scanHtml(html, {
    text() {},
    close() {},
    open(name, tag, at) {
      if (name !== 'a' && name !== 'area') return;
      const href = attributePlaces(tag).find((attribute) => attribute.name === 'href');
      const url = href && targetOf(unescapeHtml(href.value).trim(), ownPrefix);
      if (!href || !url) return;
      const number = numbers.get(url) ?? numbers.size;
      if (number >= LINKS_MAX) return;
      numbers.set(url, number);
      pieces.push(html.slice(written, at + href.from), `"${escapeHtml(linkOf(number))}"`);
      written = at + href.to;
    },
  });
  return { page: `${pieces.join('')}${html.slice(written)}`, urls: [...numbers.keys()] };
}

/** As a browser would ask for it; undefined for what is no page of the web. */
function targetOf(address: string, ownPrefix: string): string | undefined {
  if (address.startsWith(ownPrefix) || !/^https?:/i.test(address) || !isLink(address)) return undefined;
  return URL.parse(address)?.href;
}
