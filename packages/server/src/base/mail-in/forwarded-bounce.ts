import { addressesIn, firstOf, linesOf, readFields } from './fields.ts';
import { isBounceTitle, isDaemonAddress, saysUndelivered } from './free-text.ts';
import type { InboundMail } from './mail.ts';
import { closesAttribution, startsHeader } from './reply-phrases.ts';

/**
 * Whether a mail passes on a delivery report, by hand or by a rule of the mailbox. A report that comes this way proves nothing
 * about our recipient, and nobody has replied.
 */
export function isForwardedBounce(mail: InboundMail): boolean {
  if (mail.parts.some(({ type, text }) => type === 'message/rfc822' && isReport(text))) return true;
  if (!saysUndelivered(mail.text)) return false;
  return hasForwardedTitle(mail.subject) || quotesReport(mail.text);
}

const HEADER_CHARS_MAX = 16 * 1024;

function isReport(text: string): boolean {
  const fields = readFields(linesOf(text.slice(0, HEADER_CHARS_MAX)));
  if (/^multipart\/report\b.{0,200}\bdelivery-status\b/i.test(firstOf(fields, 'content-type') ?? ''))
    return true;
  const [from = ''] = addressesIn(firstOf(fields, 'from') ?? '', 1);
  return isDaemonAddress(from) && isBounceTitle(firstOf(fields, 'subject') ?? '');
}

/** "Fwd:" as the mail programs of many languages write it. */
const FORWARDED =
  /^(?:(?:fwd?|wg|tr|rv|enc|i|vs|vb|vl|pd|ilt|doorst|转发|轉寄|転送|전달) ?[:：] ?){1,5}|^\[fwd: ?/iu;

function hasForwardedTitle(subject: string): boolean {
  const [prefix = ''] = FORWARDED.exec(subject.trim()) ?? [];
  return prefix !== '' && isBounceTitle(subject.trim().slice(prefix.length));
}

const TEXT_CHARS_MAX = 64 * 1024;
const QUOTE_MARKS = /^[\s>|]{0,20}/;
/** Fields of RFC 3464, and what Sendmail writes around its transcript. */
const REPORT_LINE =
  /^(?:(?:final-recipient|diagnostic-code|reporting-mta): ?[\w-]{1,20};|-{2,10} ?(?:the following addresses had|transcript of session))/i;
const DAEMON_NAME = /\bmail delivery (?:sub)?system\b|\bmailer[-_.]?daemon\b/i;

/** Lines of a report itself, or a copied header or introduction of a quotation that names the mail system as the author. */
function quotesReport(text: string): boolean {
  return linesOf(text.slice(0, TEXT_CHARS_MAX)).some((quoted) => {
    const line = quoted.replace(QUOTE_MARKS, '').slice(0, LINE_CHARS_MAX);
    if (REPORT_LINE.test(line)) return true;
    const namesAuthor = startsHeader(line) || closesAttribution(line);
    return namesAuthor && (DAEMON_NAME.test(line) || addressesIn(line, 1).some(isDaemonAddress));
  });
}

const LINE_CHARS_MAX = 400;
