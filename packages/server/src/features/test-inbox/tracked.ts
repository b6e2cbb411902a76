import { attribute, type Page } from './page.ts';

/** As links of a letter that is tracked are addressed: the sealed name of the letter, and the number of the link. */
const TRACKED = /^https?:\/\/[^/]+\/c\/[a-z2-7]{34}\.[a-z2-7]{16}\/(\d{1,3})$/;

/**
 * The page as it was written: its links lead where readers end, and the one that only machines see is not there. `urls`: where
 * they lead, in the order of their numbers.
 */
export function withoutTracking(page: Page, urls: readonly string[]): Page {
  if (urls.length === 0) return page;
  const elements = page.elements.flatMap((element) => {
    const number = TRACKED.exec(attribute(element, 'href'))?.[1];
    if (number === undefined) return [element];
    const url = urls[Number(number)];
    if (url === undefined) return [];
    return [{ ...element, attributes: new Map([...element.attributes, ['href', url]]) }];
  });
  return { ...page, elements };
}

const PIXEL =
  /<img\b[^<>]*\ssrc\s*=\s*["']https?:\/\/[^"'/]+\/o\/[a-z2-7]{34}\.[a-z2-7]{16}\.gif["'][^<>]*>/gi;

/** The letter without what tells that it was opened: whoever of the team looks at it, with its images, has opened nothing. */
export function withoutPixel(html: string): string {
  return html.replaceAll(PIXEL, '');
}
