import { attribute, type EmailHtml } from './page.ts';

/**
 * Redacts everything that acts on behalf of an email's recipient. These are links that unsubscribe, count a click or sign a member in, and
 * addresses that accept a bounce or a reply. Each of them alone identifies its user.
 */
export function redactTokens(text: string): string {
  return text.replaceAll(SEAL, REDACTED).replaceAll(TOKEN, `$1${REDACTED}`);
}

const REDACTED = 'redacted';
/** A token of `platform/crypto/email-token.ts`, in any case that a mail server may have made of it. */
const SEAL = /[a-z2-7]{34}\.[a-z2-7]{16}/gi;
/** The token of a link to set up an installation, accept an invitation or reset a password. */
const TOKEN = /(\btoken=)[\da-z]{20,}/gi;

/** The form of links in a tracked email: its signed token and the number of the link. */
const TRACKED = /^https?:\/\/[^/]+\/c\/[a-z2-7]{34}\.[a-z2-7]{16}\/(\d{1,3})$/;

/**
 * Returns the page as it was before tracking: links lead to their targets, and the bot trap link is removed. `urls`: the targets in the
 * order of their numbers.
 */
export function withoutTracking(page: EmailHtml, urls: readonly string[]): EmailHtml {
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
