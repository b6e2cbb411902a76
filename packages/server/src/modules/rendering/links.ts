import MarkdownIt from 'markdown-it';
import { isLink } from './addresses.ts';
import { attributeRanges, escapeHtml, partsOfPage, scanHtml, unescapeHtml } from './html.ts';

/** The additions to an email for tracking. Null: that one is not added. */
export type Marks = {
  /** Returns the tracking URL of the link with this number. */
  linkOf: ((number: number) => string) | null;
  /** Returns the URL of the bot trap link, which no person sees. */
  trapOf: ((number: number) => string) | null;
  pixel: string | null;
  /** Links with this prefix are never changed, because they belong to the email itself, such as the unsubscribe link. */
  untrackedPrefix: string;
};

/** The email with tracking, and the targets of its links in the order of their numbers. */
type Marked = { html: string; urls: string[] };

/** Further links of an email stay unchanged. */
const LINKS_MAX = 100;

/** The places of links that can be tracked, and of the invisible additions. */
export type LinkPositions = {
  links: { from: number; to: number; number: number }[];
  urls: string[];
  end: number;
};

/** Adds tracking to a rendered page. Its plain text keeps the real URLs. */
export function trackLinks(html: string, marks: Marks): Marked {
  return markLinks(html, findLinks(html, marks.untrackedPrefix), marks);
}

/** Reads the page. `markLinks` only assembles pieces. */
export function findLinks(html: string, untrackedPrefix: string): LinkPositions {
  const numbers = new Map<string, number>();
  const links: LinkPositions['links'] = [];
  scanHtml(html, {
    text() {},
    close() {},
    open(name, tag, at) {
      if (name !== 'a' && name !== 'area') return;
      const href = attributeRanges(tag).find((attribute) => attribute.name === 'href');
      const url = href && targetOf(unescapeHtml(href.value).trim(), untrackedPrefix);
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
  { links, urls, end }: LinkPositions,
  { linkOf, trapOf, pixel }: Omit<Marks, 'untrackedPrefix'>,
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

/** Returns the URL as a browser would request it. Undefined if it is not a web page. */
function targetOf(address: string, untrackedPrefix: string): string | undefined {
  if (address.startsWith(untrackedPrefix) || !/^https?:/i.test(address) || !isLink(address)) return undefined;
  return URL.parse(address)?.href;
}

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

type Tokens = ReturnType<typeof markdown.parse>;

/** Returns the link targets of a body in order, each once. Null if the body shows more than words. */
export function linksOfMarkdown(body: string): { address: string; words: string }[] | null {
  const tokens = markdown.parse(body, {});
  const parts = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
  if (parts.some(({ type }) => type === 'image' || type === 'table_open' || /^(?:fence|code_)/.test(type)))
    return null;
  const links = new Map<string, string>();
  for (const [at, part] of parts.entries()) {
    if (part.type !== 'link_open') continue;
    const address = String(part.attrGet('href') ?? '');
    if (isLink(address) && !links.has(address)) links.set(address, wordsFrom(parts, at + 1));
  }
  return [...links].map(([address, words]) => ({ address, words }));
}

function wordsFrom(parts: Tokens, begin: number): string {
  let words = '';
  for (let at = begin; at < parts.length; at += 1) {
    const part = parts[at];
    if (!part || part.type === 'link_close') break;
    words += part.content;
  }
  return words;
}
