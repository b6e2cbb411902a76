import type { Check, CheckedLetter } from './check.ts';
import { checkContrast } from './check-contrast.ts';
import { checkDkim } from './check-dkim.ts';
import { checkHeaders, headersOf } from './check-headers.ts';
import { checkHtml } from './check-html.ts';
import { checkImages } from './check-images.ts';
import { checkLinks } from './check-links.ts';
import { checkMime, checkSize } from './check-size.ts';
import { checkText, checkTextLinks } from './check-text.ts';
import { checkUnsubscribe } from './check-unsubscribe.ts';
import { checkPlaceholders, checkPreheader, checkSubject, checkTone } from './check-ai-drafting.ts';
import { readPage } from './page.ts';
import { readMail } from './read-mail.ts';
import { withoutTracking } from './tracked.ts';
import { UNSIGNED, verifyDkim } from './verify-dkim.ts';

export type CheckedMail = { subject: string; html: string; text: string; checks: Check[] };

export type Question = {
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
  { kind, at, keyOf, urls = [] }: Question,
): Promise<CheckedMail> {
  const mail = await readMail(raw);
  const isSigned = headersOf(mail, 'dkim-signature').length > 0;
  const dkim = isSigned ? await verifyDkim(raw, keyOf) : UNSIGNED;
  const page = withoutTracking(readPage(mail.html), urls);
  const letter: CheckedLetter = { mail, page, kind, at, dkim };
  const looks = mail.trouble === null ? LOOKS : [checkMime, checkSize];
  const { subject, html, text } = mail;
  return { subject, html, text, checks: looks.map((look) => look(letter)) };
}

const LOOKS: ((letter: CheckedLetter) => Check)[] = [
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
