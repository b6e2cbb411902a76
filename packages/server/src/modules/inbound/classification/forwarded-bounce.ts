import { decodeWords } from 'postal-mime';
import { isClearBounceTitle } from './bounce-phrases.ts';
import { addressesIn, firstOf, linesOf, readFields } from './fields.ts';
import { isBounceTitle, isDaemonAddress, saysUndelivered } from './free-text.ts';
import type { InboundMail } from './mail.ts';
import { closesAttribution, startsHeader } from './reply-phrases.ts';
import { forwardedTitle } from './subject-prefix.ts';

/**
 * Returns whether an email passes on a delivery report, by hand or by a rule of the mailbox. Such a report proves nothing about our
 * recipient, and is not a human reply. `isTitledForwardedBounce` covers reports recognized only by their title.
 */
export function isForwardedBounce(mail: InboundMail): boolean {
  if (mail.parts.some(({ text }) => isReport(text, mail.from)) || quotesReport(mail)) return true;
  const title = forwardedTitle(mail.subject);
  return title !== null && isBounceTitle(title) && saysUndelivered(mail.text);
}

/** Returns whether the subject is the title of a delivery report after "Fwd:", in any language. */
export function isTitledForwardedBounce({ subject }: InboundMail): boolean {
  const title = forwardedTitle(subject);
  return title !== null && isClearBounceTitle(title);
}

const HEADER_CHARS_MAX = 16 * 1024;
const FIRST_FIELD = /^\s{0,20}(?:from \S|[!-9;-~]{1,80}[ \t]{0,20}:)/i;

/** Returns whether an attachment is a report, by its own header, because a type or a name such as `Undeliverable.eml` may be missing. */
function isReport(text: string, author: string | null): boolean {
  if (!FIRST_FIELD.test(text.slice(0, LINE_CHARS_MAX))) return false;
  const header = text.slice(0, HEADER_CHARS_MAX).trimStart();
  const fields = readFields(linesOf(header.replace(/^from .*\n/i, '')));
  const valueOf = (name: string): string => firstOf(fields, name) ?? '';
  if (/^multipart\/report\b.{0,200}\bdelivery-status\b/i.test(valueOf('content-type'))) return true;
  if (valueOf('x-failed-recipients') !== '') return true;
  const [from = ''] = addressesIn(valueOf('from'), 1);
  if (isDaemonAddress(from) && from !== author) return true;
  const isAutomatic = valueOf('return-path') === '<>' || /^auto-/i.test(valueOf('auto-submitted'));
  return isAutomatic && isClearBounceTitle(decodeWords(valueOf('subject').slice(0, LINE_CHARS_MAX)));
}

const TEXT_CHARS_MAX = 64 * 1024;
const LINE_CHARS_MAX = 400;
const QUOTE_MARKS = /^[\s>|*\u200e\u200f\u202a-\u202e]{0,20}/;
/** Fields of RFC 3464, and the lines that Sendmail writes around its transcript. */
const REPORT_LINE =
  /^(?:(?:final-recipient|diagnostic-code|reporting-mta): ?[\w-]{1,20};|-{2,10} ?(?:the following addresses had|transcript of session))/i;
const DAEMON_NAME =
  /\bmail delivery (?:sub)?system\b|\bmailer[-_. ]?daemon\b|[:：] ?\*{0,2} ?microsoft outlook\s*(?:$|[<[])/i;
/** Every line below contains at least one of these words. Ordinary emails contain none and cost one search. */
const ANY_SIGN =
  /final-recipient|diagnostic-code|reporting-mta|transcript of session|following addresses had|mail delivery s|daemon|post[-_]?master|mmdf|microsoft ?(?:outlook|exchange)/i;

/** Matches lines of a report itself, or a copied header or introduction of a quotation that names the mail system as the author. */
function quotesReport({ text, from: author }: InboundMail): boolean {
  const some = text.slice(0, TEXT_CHARS_MAX);
  if (!ANY_SIGN.test(some)) return false;
  return linesOf(some).some((quoted) => {
    const line = quoted.replace(QUOTE_MARKS, '').slice(0, LINE_CHARS_MAX);
    if (REPORT_LINE.test(line)) return true;
    if (!ANY_SIGN.test(line) || !(startsHeader(line) || closesAttribution(line))) return false;
    const [named = ''] = addressesIn(line, 1);
    return DAEMON_NAME.test(line) || (isDaemonAddress(named) && named !== author);
  });
}
