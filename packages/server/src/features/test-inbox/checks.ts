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
import { checkPlaceholders, checkPreheader, checkSubject, checkTone } from './check-wording.ts';
import { readPage } from './page.ts';
import { readMail } from './read-mail.ts';
import { withoutTracking } from './tracked.ts';
import { UNSIGNED, verifyDkim } from './verify-dkim.ts';

export type CheckedMail = { subject: string; html: string; text: string; checks: Check[] };

export type Question = {
  kind: 'user' | 'team';
  /** When it arrived, in milliseconds. */
  at: number;
  /** The record that is published under such a name, or would be. */
  keyOf: (record: string) => string | null;
  /** Where the links lead of a letter whose clicks are tracked, in the order of their numbers. */
  urls?: readonly string[];
};

/** A letter as a reader would see it, and everything that is wrong with it. Never throws, and takes no longer for being hostile. */
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
