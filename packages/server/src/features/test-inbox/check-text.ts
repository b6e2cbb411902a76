import { type Check, type CheckedLetter, type Finding, findingsOf, judged } from './check.ts';
import { linksOf } from './check-links.ts';

/** Is there a letter for those whose client shows no HTML? */
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

/** Several times what a letter may have; each link is looked for in all of it. */
const TEXT_MAX_CHARS = 256 * 1024;

/** Whoever reads the plain text can follow every link too. */
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

/** Whatever else a link may be is complained about as a link. */
function isTarget(href: string): boolean {
  return /^(?:https?|mailto):/i.test(href);
}

/** Of a mailto link the address is enough. */
function wantedOf(href: string): string {
  const [address = ''] = href.split('?', 1);
  return /^mailto:/i.test(href) ? address.slice('mailto:'.length) : href;
}

/** A long address may be broken into lines. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
