import { checkPlaceholders, checkPreheader, checkSubject, checkTone } from './check-ai-drafting.ts';
import { checkContrast } from './check-contrast.ts';
import { checkDkim, checkHeaders, headersOf } from './check-headers.ts';
import { checkHtml, checkImages } from './check-html.ts';
import { checkLinks, isLoopback, type EmailLink, linksOf } from './check-links.ts';
import { type EmailCheck, type CheckedEmail, type CheckFinding, findingsOf, checkResult } from './check.ts';
import { readPage } from './page.ts';
import { readMail } from './read-mail.ts';
import { withoutTracking } from './own-links.ts';
import { UNSIGNED, verifyDkim } from './verify-dkim.ts';

export type CheckedMail = { subject: string; html: string; text: string; checks: EmailCheck[] };

export type EmailCheckOptions = {
  kind: 'user' | 'team';
  /** When it arrived, in milliseconds. */
  at: number;
  /** Returns the DNS record that is, or would be, published under this name. */
  keyOf: (record: string) => string | null;
  /** The targets of the links of a tracked email, in the order of their numbers. */
  urls?: readonly string[];
};

/** Returns an email as a reader would see it, with the results of all checks. It never throws, and hostile content takes no longer. */
export async function checkMail(
  raw: Uint8Array,
  { kind, at, keyOf, urls = [] }: EmailCheckOptions,
): Promise<CheckedMail> {
  const mail = await readMail(raw);
  const isSigned = headersOf(mail, 'dkim-signature').length > 0;
  const dkim = isSigned ? await verifyDkim(raw, keyOf) : UNSIGNED;
  const page = withoutTracking(readPage(mail.html), urls);
  const email: CheckedEmail = { mail, page, kind, at, dkim };
  const checks = mail.parseError === null ? CHECKS : [checkMime, checkSize];
  const { subject, html, text } = mail;
  return { subject, html, text, checks: checks.map((check) => check(email)) };
}

const CHECKS: ((email: CheckedEmail) => EmailCheck)[] = [
  checkMime,
  checkSize,
  checkHeaders,
  checkDkim,
  checkSubject,
  checkPreheader,
  checkTone,
  checkPlaceholders,
  checkText,
  checkTextLinks,
  checkLinks,
  checkUnsubscribe,
  checkImages,
  checkHtml,
  checkContrast,
];

/** Gmail clips an email slightly above this size, together with the unsubscribe link at its end. */
const HTML_MAX_BYTES = 100_000;
const MAIL_MAX_BYTES = 1024 * 1024;
const NEAR = 0.8;
/** RFC 5322, 2.1.1. */
const LINE_MAX_BYTES = 998;

function checkSize({ mail }: CheckedEmail): EmailCheck {
  const htmlBytes = Buffer.byteLength(mail.html);
  const findings = [
    ...near('The HTML', { bytes: htmlBytes, most: HTML_MAX_BYTES }),
    ...near('The whole email', { bytes: mail.size, most: MAIL_MAX_BYTES }),
  ];
  return checkResult('size', findings, `${kilobytes(mail.size)}, ${kilobytes(htmlBytes)} of it HTML.`);
}

function near(what: string, { bytes, most }: { bytes: number; most: number }): CheckFinding[] {
  const has = `${what} has ${kilobytes(bytes)}`;
  if (bytes > most)
    return [{ status: 'error', message: `${has}; at most ${kilobytes(most)} are allowed. Shorten it.` }];
  if (bytes <= most * NEAR) return [];
  return [{ status: 'warning', message: `${has}. Above ${kilobytes(most)} it cannot be sent.` }];
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}

/** Checks whether the email can be parsed, and whether every server can relay it. */
function checkMime({ mail }: CheckedEmail): EmailCheck {
  const findings: CheckFinding[] = [];
  if (mail.parseError !== null)
    findings.push({
      status: 'error',
      message: `The email cannot be parsed, so no other check ran: ${mail.parseError}.`,
    });
  if (mail.longestLine > LINE_MAX_BYTES)
    findings.push({
      status: 'error',
      message: `A line has ${mail.longestLine} bytes. Servers may break or reject lines above ${LINE_MAX_BYTES}.`,
    });
  if (mail.parseError === null && mail.html === '')
    findings.push({
      status: 'warning',
      message: 'The email has no HTML, so users see plain text and bare URLs.',
    });
  return checkResult('mime', findings, 'The email is well formed.');
}

/** Checks whether there is a text version for clients that show no HTML. */
function checkText({ mail }: CheckedEmail): EmailCheck {
  const findings: CheckFinding[] = [];
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
  return checkResult('text', findings, 'The email has a plain text.');
}

const TEXT_MIN_CHARS = 20;

/** Several times the maximum length of an email. Every link is searched for in all of it. */
const TEXT_MAX_CHARS = 256 * 1024;

/** Checks whether the plain text contains every link of the HTML. */
function checkTextLinks({ mail, page }: CheckedEmail): EmailCheck {
  const written = withoutBreaks(mail.text.slice(0, TEXT_MAX_CHARS));
  const targets = new Set(linksOf(page).map(({ href }) => href));
  const missing = [...targets].filter(
    (href) => isTarget(href) && !written.includes(withoutBreaks(textTarget(href))),
  );
  const message = 'The plain text lacks a link of the HTML. Add its URL.';
  return checkResult(
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
function textTarget(href: string): string {
  const [address = ''] = href.split('?', 1);
  return /^mailto:/i.test(href) ? address.slice('mailto:'.length) : href;
}

/** Removes whitespace, because a long URL may be broken across lines. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Checks whether a recipient can unsubscribe with one click, both in their client and in the email. Gmail and Yahoo require both. */
function checkUnsubscribe({ mail, page, kind }: CheckedEmail): EmailCheck {
  if (kind === 'team')
    return { name: 'unsubscribe', status: 'ok', message: 'An email to the team does not need one.' };
  const header = headersOf(mail, 'list-unsubscribe')[0] ?? '';
  const targets = [...header.slice(0, HEADER_MAX_CHARS).matchAll(/<([^<>]*)>/g)].map(([, uri = '']) =>
    uri.trim(),
  );
  const target = targets.map((uri) => URL.parse(uri)).find((url) => url && /^https?:$/.test(url.protocol));
  const post = headersOf(mail, 'list-unsubscribe-post')[0] ?? '';
  const links = linksOf(page);
  return checkResult(
    'unsubscribe',
    [...byHeader(target ?? null), ...byPost(post), ...inBody(links, targets)],
    'One-click unsubscribe and a link in the email are present.',
  );
}

const HEADER_MAX_CHARS = 4_000;

function byHeader(target: URL | null): CheckFinding[] {
  if (!target) {
    const message = 'List-Unsubscribe with an https URL is missing, so clients show no unsubscribe button.';
    return [{ status: 'error', message }];
  }
  if (target.protocol === 'https:') return [];
  if (isLoopback(target.hostname)) {
    const message =
      'List-Unsubscribe points to this machine, which is fine for the test inbox. With a real relay, PUBLIC_URL must be an https URL.';
    return [{ status: 'ok', message }];
  }
  const message = 'List-Unsubscribe is not https, so no client uses it. Set PUBLIC_URL to an https URL.';
  return [{ status: 'error', message }];
}

function byPost(post: string): CheckFinding[] {
  if (post.trim().toLowerCase() === 'list-unsubscribe=one-click') return [];
  const message = 'List-Unsubscribe-Post: List-Unsubscribe=One-Click is missing, so one click is not enough.';
  return [{ status: 'error', message }];
}

const SAYS_SO =
  /unsubscribe|opt[\s_-]?out|abbestellen|abmelden|austragen|d[ée]sabonn|d[ée]sinscri|darse de baja|cancelar (?:la )?suscripci|disiscriv|cancella|afmelden|avregistr|wypisz|отписа|取消订阅|配信停止/i;

function inBody(links: EmailLink[], targets: string[]): CheckFinding[] {
  const hasLink = links.some(
    ({ href, label }) => targets.includes(href) || SAYS_SO.test(label) || SAYS_SO.test(href),
  );
  if (hasLink) return [];
  const message = 'The email has no visible unsubscribe link. Add one at its end.';
  return [{ status: 'error', message }];
}
