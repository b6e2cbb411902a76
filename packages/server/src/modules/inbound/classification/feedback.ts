import { addressesIn, allOf, firstOf, readFieldGroups, type Fields } from './fields.ts';
import type { InboundMail } from './mail.ts';

/** A mailbox provider's report of a user's feedback about an email (RFC 5965). */
export type Feedback = { type: string; isComplaint: boolean; addresses: string[] };

const RECIPIENTS_MAX = 100;
/** Feedback without a complaint: a user moved an email out of the spam folder, or a filter of the provider found an error. */
const NO_COMPLAINTS = new Set(['not-spam', 'auth-failure', 'dmarc', 'dkim', 'spf']);

export function readFeedback(mail: InboundMail, original: Fields): Feedback | null {
  const part = mail.parts.find(
    ({ type, text }) =>
      type === 'message/feedback-report' ||
      (!type.startsWith('message/') && /^\s*Feedback-Type: /i.test(text)),
  );
  if (!part) return byMicrosoft(mail, original);
  const groups = readFieldGroups(part.text, RECIPIENTS_MAX);
  const fields = groups.flat();
  const type = /^[\w-]+/.exec((firstOf(fields, 'feedback-type') ?? 'other').toLowerCase())?.[0] ?? 'other';
  return { type, isComplaint: !NO_COMPLAINTS.has(type), addresses: recipientsOf(fields, original) };
}

function recipientsOf(fields: Fields, original: Fields): string[] {
  const said = ['original-rcpt-to', 'removal-recipient', 'original-recipient'].map((name) =>
    addressesIn(allOf(fields, name).join(' '), RECIPIENTS_MAX),
  );
  return said.find((some) => some.length > 0) ?? addressesIn(allOf(original, 'to').join(' '), RECIPIENTS_MAX);
}

/** Outlook.com sends the email itself, with its recipient in a separate header. */
function byMicrosoft(mail: InboundMail, original: Fields): Feedback | null {
  const recipient = firstOf(original, 'x-hmxmroriginalrecipient');
  const isFromThem = /(?:^staff@hotmail\.com$|@(?:[\w-]+\.)*(?:hotmail|outlook|microsoft)\.com$)/.test(
    mail.from ?? '',
  );
  if (recipient === null || !isFromThem) return null;
  return { type: 'abuse', isComplaint: true, addresses: addressesIn(recipient, 1) };
}
