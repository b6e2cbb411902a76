import { readJson } from '../../../platform/relays/json.ts';
import { type InboundMail, linesOf, type MailHeader } from './mail.ts';

/** A notification of Amazon SES, from an SNS topic with an email subscription: JSON in place of a delivery report. */
export type SesNotification = {
  type: string;
  recipients: { address: string | null; action: string | null; status: string | null; diagnostic: string }[];
  headers: MailHeader[];
};

const RECIPIENTS_MAX = 100;
const HEADERS_MAX = 200;
const JSON_CHARS_MAX = 256 * 1024;

/** Returns whether Amazon SNS sent the email. If so, it is never a human reply, even if its JSON is unreadable. */
export function isSnsNotification({ headers }: InboundMail): boolean {
  return headers.some(({ name }) => name.startsWith('x-amz-sns-'));
}

export function readSesNotification(mail: InboundMail): SesNotification | null {
  const notification = parse(linesOf(mail.text.slice(0, JSON_CHARS_MAX)));
  if (!isObject(notification)) return null;
  const type = asText(notification.notificationType ?? notification.eventType) ?? '';
  const email = isObject(notification.mail) ? notification.mail : {};
  const about = notification[type.toLowerCase()];
  const named = isObject(about)
    ? (about.bouncedRecipients ?? about.complainedRecipients ?? about.recipients)
    : [];
  return {
    type,
    recipients: asList(named, RECIPIENTS_MAX).map(toRecipient),
    headers: asList(email.headers, HEADERS_MAX).flatMap(toHeader),
  };
}

function toRecipient(recipient: unknown): SesNotification['recipients'][number] {
  const fields = isObject(recipient) ? recipient : { emailAddress: recipient };
  return {
    address: asText(fields.emailAddress)?.toLowerCase() ?? null,
    action: asText(fields.action),
    status: asText(fields.status),
    diagnostic: asText(fields.diagnosticCode) ?? '',
  };
}

function toHeader(header: unknown): MailHeader[] {
  const [name, value] = isObject(header) ? [asText(header.name), asText(header.value)] : [];
  return name && value ? [{ name: name.toLowerCase(), value }] : [];
}

/**
 * Reads the JSON of one line, or of all lines up to the next empty one. Some servers break lines beyond 998 characters, Sendmail with a "!"
 * in front of the break. An envelope added by SNS is unwrapped.
 */
function parse(lines: string[]): unknown {
  const begin = lines.findIndex((line) => line.startsWith('{'));
  if (begin < 0) return null;
  const end = lines.findIndex((line, i) => i > begin && line.trim() === '');
  const block = lines.slice(begin, end < 0 ? undefined : end).join('\n');
  if (!/notificationType|eventType/.test(block.replace(LINE_BREAK, ''))) return null;
  const found = readJson(lines[begin] ?? '') ?? readJson(block.replace(LINE_BREAK, ''));
  return isObject(found) && typeof found.Message === 'string' ? readJson(found.Message) : found;
}

const LINE_BREAK = /!?\n[ \t]?/g;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asList(value: unknown, max: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : [];
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
