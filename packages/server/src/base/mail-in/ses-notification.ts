import { linesOf } from './fields.ts';
import type { InboundMail, MailHeader } from './mail.ts';

/** What Amazon SES tells by a topic that is subscribed to by mail: JSON, in place of a report. */
export type SesNotification = {
  type: string;
  recipients: { address: string | null; action: string | null; status: string | null; diagnostic: string }[];
  headers: MailHeader[];
};

const RECIPIENTS_MAX = 100;
const HEADERS_MAX = 200;
const JSON_CHARS_MAX = 256 * 1024;

export function readSesNotification(mail: InboundMail): SesNotification | null {
  const line = linesOf(mail.text.slice(0, JSON_CHARS_MAX)).find((text) => text.startsWith('{'));
  const said = line?.includes('"notificationType"') || line?.includes('"eventType"') ? parse(line) : null;
  if (!isObject(said)) return null;
  const type = asText(said.notificationType ?? said.eventType) ?? '';
  const letter = isObject(said.mail) ? said.mail : {};
  const about = said[type.toLowerCase()];
  const named = isObject(about)
    ? (about.bouncedRecipients ?? about.complainedRecipients ?? about.recipients)
    : [];
  return {
    type,
    recipients: asList(named, RECIPIENTS_MAX).map(toRecipient),
    headers: asList(letter.headers, HEADERS_MAX).flatMap(toHeader),
  };
}

function toRecipient(given: unknown): SesNotification['recipients'][number] {
  const one = isObject(given) ? given : { emailAddress: given };
  return {
    address: asText(one.emailAddress)?.toLowerCase() ?? null,
    action: asText(one.action),
    status: asText(one.status),
    diagnostic: asText(one.diagnosticCode) ?? '',
  };
}

function toHeader(given: unknown): MailHeader[] {
  const [name, value] = isObject(given) ? [asText(given.name), asText(given.value)] : [];
  return name && value ? [{ name: name.toLowerCase(), value }] : [];
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asList(value: unknown, max: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : [];
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
