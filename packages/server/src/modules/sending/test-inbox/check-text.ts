import { type Check, type CheckedLetter, type Finding, findingsOf, judged } from './check.ts';
import { linksOf } from './check-links.ts';

/** Checks whether there is a text version for clients that show no HTML. */
export function checkText({ mail }: CheckedLetter): Check {
  const findings: Finding[] = [];
  if (mail.text.trim() === '')
    findings.push({
      status: 'error',
      message:
        'The plain text is missing. Some readers see only plain text, and spam filters distrust emails without it.',
    });
  else if (mail.html !== '' && mail.text.trim().length < TEXT_MIN_CHARS)
    findings.push({
      status: 'warning',
      message: 'The plain text is almost empty. Add the content of the HTML.',
    });
  return judged('text', findings, 'The email has a plain text.');
}

const TEXT_MIN_CHARS = 20;

/** Several times the maximum length of an email. Every link is searched for in all of it. */
const TEXT_MAX_CHARS = 256 * 1024;

/** Checks whether the plain text contains every link of the HTML. */
export function checkTextLinks({ mail, page }: CheckedLetter): Check {
  const written = withoutBreaks(mail.text.slice(0, TEXT_MAX_CHARS));
  const targets = new Set(linksOf(page).map(({ href }) => href));
  const missing = [...targets].filter(
    (href) => isTarget(href) && !written.includes(withoutBreaks(wantedOf(href))),
  );
  const message = 'The plain text lacks a link of the HTML. Add its URL.';
  return judged(
    'text_links',
    findingsOf('error', message, missing),
    'Every link of the HTML is in the plain text.',
  );
}

/** Other kinds of links are reported by the link check. */
function isTarget(href: string): boolean {
  return /^(?:https?|mailto):/i.test(href);
}

/** Returns only the address of a mailto link. */
function wantedOf(href: string): string {
  const [address = ''] = href.split('?', 1);
  return /^mailto:/i.test(href) ? address.slice('mailto:'.length) : href;
}

/** Removes whitespace, because a long URL may be broken across lines. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
