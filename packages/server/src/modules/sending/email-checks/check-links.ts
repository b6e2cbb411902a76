import { isLoopbackName } from '../../../platform/net/network-address.ts';
import {
  type EmailCheck,
  type CheckedEmail,
  excerpt,
  type CheckFinding,
  findingsOf,
  checkResult,
} from './check.ts';
import { attribute, type EmailHtml } from './page.ts';

/** In an email with 50,000 links, only this many are checked. */
const LINKS_MAX = 1_000;
const HREF_MAX_CHARS = 4_000;

export type EmailLink = { href: string; label: string };

export function linksOf(page: EmailHtml): EmailLink[] {
  return page.elements
    .filter(({ tag, attributes }) => (tag === 'a' || tag === 'area') && attributes.has('href'))
    .slice(0, LINKS_MAX)
    .map((element) => ({
      href: attribute(element, 'href').trim().slice(0, HREF_MAX_CHARS),
      label: element.tag === 'area' ? attribute(element, 'alt') : element.label,
    }));
}

type Flaw = 'empty' | 'unfilled' | 'relative' | 'scheme' | 'loopback' | 'plain';

/** Checks whether every link leads to a URL that the recipient can reach. */
export function checkLinks({ page }: CheckedEmail): EmailCheck {
  const links = linksOf(page);
  const flaws = Map.groupBy(links, ({ href }) => flawOf(href));
  const at = (flaw: Flaw): string[] => distinct(flaws.get(flaw) ?? []);
  const nameless = links.filter(({ label }) => label.trim() === '');
  const findings: CheckFinding[] = [
    ...findingsOf('error', 'A link has no URL. Add one.', at('empty')),
    ...findingsOf(
      'error',
      'A link contains an unfilled variable. Give it a value or a default.',
      at('unfilled'),
    ),
    ...findingsOf('error', 'A link has no absolute URL. Start it with https://.', at('relative')),
    ...findingsOf(
      'error',
      'A link is not https, http, mailto or tel, so email clients do not open it. Remove it.',
      at('scheme'),
    ),
    ...findingsOf(
      'warning',
      'A link points to this machine, which recipients cannot reach. Set PUBLIC_URL before you send real emails.',
      at('loopback'),
    ),
    ...findingsOf('warning', 'A link is not encrypted. Use https.', at('plain')),
    ...findingsOf(
      'warning',
      'A link has no text, so a screen reader cannot describe it. Add text, or an image with alt text.',
      distinct(nameless),
    ),
    ...(page.isCut ? [CUT] : []),
  ];
  return checkResult('links', findings, well(links.length));
}

const CUT: CheckFinding = {
  status: 'warning',
  message: 'The email is too long or too deeply nested to check completely. Shorten it.',
};

function well(count: number): string {
  if (count === 0) return 'The email has no links.';
  return count === 1 ? 'Its link has an absolute URL.' : `All ${count} links have absolute URLs.`;
}

const GAP = /\{\{|\}\}|\{%|%7b%7b|%7d%7d|\[object |(?:^|[/=?&.@:#_-])(?:undefined|null|nan)(?:$|[/=?&.#_-])/i;
const OPENED = new Set(['https:', 'http:', 'mailto:', 'tel:']);

function flawOf(href: string): Flaw | 'none' {
  if (href === '' || href === '#') return 'empty';
  if (GAP.test(href)) return 'unfilled';
  const url = URL.parse(href);
  if (!url) return 'relative';
  if (!OPENED.has(url.protocol)) return 'scheme';
  if (url.protocol === 'mailto:' || url.protocol === 'tel:') return url.pathname === '' ? 'empty' : 'none';
  if (isLoopback(url.hostname)) return 'loopback';
  return url.protocol === 'http:' ? 'plain' : 'none';
}

/** A link to the unspecified address also opens on the reader's own computer. */
const UNSPECIFIED_ADDRESSES = new Set(['0.0.0.0', '[::]']);

export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  return isLoopbackName(name) || UNSPECIFIED_ADDRESSES.has(name);
}

function distinct(links: EmailLink[]): string[] {
  return [...new Set(links.map(({ href, label }) => describe(href, label)))];
}

function describe(href: string, label: string): string {
  const words = excerpt(label, 40);
  return `${href === '' ? '(empty)' : href}${words === '' ? '' : `, “${words}”`}`;
}
