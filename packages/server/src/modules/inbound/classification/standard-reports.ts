import { addressesIn, allOf, type Fields, firstOf, type InboundMail, readFieldGroups } from './mail.ts';

/** A report in the form of RFC 3464: fields about the message, and a group for each recipient. */
export type DeliveryStatus = { envelopeId: string | null; recipients: StatusOfRecipient[] };

export type StatusOfRecipient = {
  address: string | null;
  action: string | null;
  status: string | null;
  diagnostic: string;
  /** The reason, in the server's own word. */
  category: string | null;
};

const RECIPIENTS_MAX = 100;
const GROUPS_MAX = 200;
const REPORT_TYPES = new Set(['message/delivery-status', 'message/global-delivery-status']);

/** Returns null if there is no report, or none of its groups is about a recipient. */
export function readDeliveryStatus(mail: InboundMail): DeliveryStatus | null {
  const reports = mail.parts.filter(
    ({ type, text }) =>
      REPORT_TYPES.has(type) || (!type.startsWith('message/') && /^\s*Reporting-MTA: /i.test(text)),
  );
  return fromReports(reports.map(({ text }) => text));
}

/** Reads the same fields from the middle of a text, for reports whose parts are not marked as such. */
export function findDeliveryStatus(notice: string): DeliveryStatus | null {
  return /^Final-Recipient: ?\w/im.test(notice) ? fromReports([notice]) : null;
}

function fromReports(texts: string[]): DeliveryStatus | null {
  const groups = texts.flatMap((text) => readFieldGroups(text, GROUPS_MAX)).flatMap(divided);
  const recipients = groups.filter(isRecipient).slice(0, RECIPIENTS_MAX).map(toRecipient);
  if (recipients.length === 0) return null;
  const envelopeId = groups.map((group) => firstOf(group, 'original-envelope-id')).find((id) => id !== null);
  return { envelopeId: envelopeId ?? null, recipients };
}

/** Splits a group, because some systems leave out the empty lines between recipients. */
function divided(group: Fields): Fields[] {
  const begins = group.flatMap(({ name }, i) => (name === 'final-recipient' ? [i] : []));
  if (begins.length < 2) return [group];
  return begins.map((begin, i) => group.slice(i === 0 ? 0 : begin, begins[i + 1]));
}

function isRecipient(group: Fields): boolean {
  return firstOf(group, 'final-recipient', 'original-recipient', 'action', 'diagnostic-code') !== null;
}

function toRecipient(group: Fields): StatusOfRecipient {
  const named = ['final-recipient', 'original-recipient', 'x-actual-recipient']
    .map((name) => addressesIn((firstOf(group, name) ?? '').replace(/^[\w-]+;/, ''), 1)[0])
    .find((address) => address !== undefined);
  return {
    address: named ?? null,
    action: /^[a-z]+/.exec((firstOf(group, 'action') ?? '').toLowerCase())?.[0] ?? null,
    status: firstOf(group, 'status'),
    category: firstOf(group, 'x-powermta-bouncecategory'),
    diagnostic: (firstOf(group, 'diagnostic-code', 'x-diagnostic-code', 'x-display-text') ?? '').replace(
      /^[\w-]+ *; */,
      '',
    ),
  };
}

/** A mailbox provider's report of a user's feedback about an email (RFC 5965). */
type Feedback = { type: string; isComplaint: boolean; addresses: string[] };

const COMPLAINED_MAX = 100;
/** Feedback without a complaint: a user moved an email out of the spam folder, or a filter of the provider found an error. */
const NO_COMPLAINTS = new Set(['not-spam', 'auth-failure', 'dmarc', 'dkim', 'spf']);

export function readFeedback(mail: InboundMail, original: Fields): Feedback | null {
  const part = mail.parts.find(
    ({ type, text }) =>
      type === 'message/feedback-report' ||
      (!type.startsWith('message/') && /^\s*Feedback-Type: /i.test(text)),
  );
  if (!part) return byMicrosoft(mail, original);
  const groups = readFieldGroups(part.text, COMPLAINED_MAX);
  const fields = groups.flat();
  const type = /^[\w-]+/.exec((firstOf(fields, 'feedback-type') ?? 'other').toLowerCase())?.[0] ?? 'other';
  return { type, isComplaint: !NO_COMPLAINTS.has(type), addresses: recipientsOf(fields, original) };
}

function recipientsOf(fields: Fields, original: Fields): string[] {
  const addressLists = ['original-rcpt-to', 'removal-recipient', 'original-recipient'].map((name) =>
    addressesIn(allOf(fields, name).join(' '), COMPLAINED_MAX),
  );
  return (
    addressLists.find((addresses) => addresses.length > 0) ??
    addressesIn(allOf(original, 'to').join(' '), COMPLAINED_MAX)
  );
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
