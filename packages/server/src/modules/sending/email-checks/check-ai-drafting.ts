import {
  type EmailCheck,
  type CheckedEmail,
  excerpt,
  type CheckFinding,
  findingsOf,
  checkResult,
} from './check.ts';
import type { EmailHtml } from './page.ts';
import { parseSheet } from './sheet.ts';
import { styleOf } from './styles.ts';

/** A phone shows about 40 characters of a subject, a desktop about 70. */
const SUBJECT_LONG_CHARS = 70;
const SUBJECT_MAX_CHARS = 200;

export function checkSubject({ mail }: CheckedEmail): EmailCheck {
  const findings: CheckFinding[] = [];
  const length = countSigns(mail.subject);
  if (length === 0) findings.push({ status: 'error', message: 'The subject is empty. Add one.' });
  if (length > SUBJECT_MAX_CHARS)
    findings.push({ status: 'error', message: `The subject has ${length} characters. Shorten it.` });
  else if (length > SUBJECT_LONG_CHARS)
    findings.push({
      status: 'warning',
      message: `The subject has ${length} characters, and most clients show at most ${SUBJECT_LONG_CHARS}. Put the important words first.`,
    });
  if (/^(?:re|aw|fwd?|wg)\s*:/i.test(mail.subject))
    findings.push({
      status: 'warning',
      message: 'The subject looks like a reply to an email that does not exist. Spam filters penalize that.',
    });
  return checkResult('subject', findings, `“${excerpt(mail.subject, SUBJECT_LONG_CHARS)}”`);
}

/** Counts characters as people do: a flag is one. */
function countSigns(text: string): number {
  const signs = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(
    text.slice(0, COUNTED_MAX_CHARS),
  );
  return Array.from(signs).length;
}

const COUNTED_MAX_CHARS = 2_000;
const EXCLAMATIONS_MAX = 3;
const CAPITALS_FROM_CHARS = 8;

/** Checks for signs of spam in the subject. */
export function checkTone({ mail }: CheckedEmail): EmailCheck {
  const emails = mail.subject.replaceAll(/[^\p{L}]/gu, '');
  const isLoud = emails.length >= CAPITALS_FROM_CHARS && /^\p{Lu}+$/u.test(emails);
  const marks = (text: string): number => text.slice(0, TEXT_MAX_CHARS).match(/[!¡！]/g)?.length ?? 0;
  const findings: CheckFinding[] = [];
  if (isLoud)
    findings.push({ status: 'warning', message: 'The subject is all in capitals. Use sentence case.' });
  if (marks(mail.subject) > 1 || marks(mail.text) > EXCLAMATIONS_MAX)
    findings.push({ status: 'warning', message: 'The email has many exclamation marks. Use at most one.' });
  if (/[$€£]{2,}|\b100% free\b/i.test(mail.subject))
    findings.push({
      status: 'warning',
      message: 'The subject reads like an advertisement. Describe the content instead.',
    });
  return checkResult('tone', findings, 'No sign of an advertising tone.');
}

const TEXT_MAX_CHARS = 128 * 1024;
const GAPS = /\{\{|\}\}|\{%|%\}|\[object Object\]/;
const NOTHINGS = /\b(?:undefined|NaN)\b|\bInvalid Date\b|(?:^|\s)null(?=$|[\s,.!?])/;

/** Checks visible text for variables that were not filled in. */
export function checkPlaceholders({ mail, page }: CheckedEmail): EmailCheck {
  const texts = [mail.subject, page.text, mail.text.slice(0, TEXT_MAX_CHARS)];
  return checkResult(
    'placeholders',
    [
      ...findingsOf(
        'error',
        'A variable was not filled in. Give it a value or a default.',
        around(texts, GAPS),
      ),
      ...findingsOf(
        'warning',
        'A missing value is visible in the text. Give the variable a default.',
        around(texts, NOTHINGS),
      ),
    ],
    'Every value is filled in.',
  );
}

function around(texts: string[], pattern: RegExp): string[] {
  const found = texts.flatMap((text) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [excerpt(text.slice(Math.max(0, at - 30), at + 50), 80)];
  });
  return [...new Set(found)];
}

const PREHEADER_MAX_CHARS = 150;
const PREHEADER_MIN_CHARS = 20;

/** Checks the text that an inbox shows next to the subject: hidden text at the start of the email, or else its first words. */
export function checkPreheader({ mail, page }: CheckedEmail): EmailCheck {
  if (mail.html === '')
    return { name: 'preheader', status: 'ok', message: 'A plain-text email has no preview text.' };
  const { text, isHidden } = firstWords(page);
  const preview = excerpt(text, PREHEADER_MAX_CHARS);
  const length = countSigns(text);
  const findings: CheckFinding[] = [];
  if (length === 0)
    findings.push({ status: 'warning', message: 'The email has no preview text to show after the subject.' });
  else if (!isHidden)
    findings.push({
      status: 'warning',
      message: `The email has no preview text, so inboxes show its first words after the subject: “${preview}”. Write one.`,
    });
  else if (length < PREHEADER_MIN_CHARS)
    findings.push({
      status: 'warning',
      message: `The preview text, “${preview}”, is short, so inboxes add the text that follows it.`,
    });
  else if (length > PREHEADER_MAX_CHARS)
    findings.push({
      status: 'warning',
      message: `The preview text has ${length} characters, and no inbox shows more than ${PREHEADER_MAX_CHARS}. Shorten it.`,
    });
  return checkResult('preheader', findings, `“${preview}”`);
}

const SILENT = new Set(['head', 'title', 'style', 'script', 'template', 'noscript']);

function firstWords(page: EmailHtml): { text: string; isHidden: boolean } {
  const first = page.elements.find(({ tag, text }) => !SILENT.has(tag) && /[\p{L}\p{N}]/u.test(text));
  const styles = styleOf(page, parseSheet(page.css), 'light');
  if (!first) return { text: '', isHidden: false };
  // Invisible characters follow it, so that the first words of the email itself do not appear in the inbox.
  const text = first.text.replaceAll(/[\p{Cf}\p{Zs}\s\u{34F}]+/gu, ' ').trim();
  return { text, isHidden: styles?.get(first)?.isHidden ?? false };
}
