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

/** Where a page has links that can be tracked, and where what no person sees is put in. */
export type LinkPlaces = {
  links: { from: number; to: number; number: number }[];
  urls: string[];
  end: number;
};

/** Of a page that is written already. Whoever reads its plain text reads the real addresses. */
export function trackLinks(html: string, marks: Marks): Marked {
  return markLinks(html, findLinks(html, marks.ownPrefix), marks);
}

/** Reads the page; `markLinks` only puts pieces together. */
export function findLinks(html: string, ownPrefix: string): LinkPlaces {
  const numbers = new Map<string, number>();
  const links: LinkPlaces['links'] = [];
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
      links.push({ from: at + href.from, to: at + href.to, number });
    },
  });
  const { before, inside } = partsOfPage(html);
  return { links, urls: [...numbers.keys()], end: before.length + inside.length };
}

export function markLinks(
  html: string,
  { links, urls, end }: LinkPlaces,
  { linkOf, trapOf, pixel }: Omit<Marks, 'ownPrefix'>,
): Marked {
  const written: { from: number; to: number; text: string }[] = linkOf
    ? links.map(({ from, to, number }) => ({ from, to, text: `"${escapeHtml(linkOf(number))}"` }))
    : [];
  const tracked = linkOf ? urls : [];
  const trap = tracked.length > 0 && trapOf ? TRAP.replace('%', escapeHtml(trapOf(tracked.length))) : '';
  const last = trap + (pixel === null ? '' : PIXEL.replace('%', escapeHtml(pixel)));
  if (last !== '') written.push({ from: end, to: end, text: last });
  let [page, at] = ['', 0];
  for (const { from, to, text } of written.toSorted((a, b) => a.from - b.from)) {
    page += html.slice(at, from) + text;
    at = to;
  }
  return { html: page + html.slice(at), urls: tracked };
}

const TRAP = '<a href="%" style="display:none;mso-hide:all;" aria-hidden="true" tabindex="-1"></a>';
const PIXEL =
  '<img src="%" alt="" width="1" height="1" style="display:block;border:0;width:1px;height:1px;">';

/** As a browser would ask for it; undefined for what is no page of the web. */
function targetOf(address: string, ownPrefix: string): string | undefined {
  if (address.startsWith(ownPrefix) || !/^https?:/i.test(address) || !isLink(address)) return undefined;
  return URL.parse(address)?.href;
}
