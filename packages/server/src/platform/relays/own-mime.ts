import type { Mailbox } from '../mail/outgoing-email.ts';

/** The parts of an email, for providers that take no MIME. */
export type EmailParts = {
  messageId: string;
  from: Mailbox;
  to: Mailbox;
  replyTo: Mailbox | null;
  subject: string;
  html: string;
  text: string;
  /** The fields that the provider would not write itself, such as List-Unsubscribe. */
  headers: { name: string; value: string }[];
};

/** Fields that are in the other parts, or that the provider writes. It composes the email again, so its DKIM signature replaces ours. */
const WRITTEN_BY_PROVIDER =
  /^(?:from|to|reply-to|subject|date|message-id|mime-version|content-type|dkim-signature)$/i;

/**
 * Reads an email that `composeMail` wrote, and no other: multipart/alternative of plain text and HTML, both quoted-printable. The bytes of
 * an email are the same at every attempt, so the request that contains these parts is as well.
 */
export function readOwnMime(mime: Uint8Array): EmailParts {
  const source = Buffer.from(mime).toString('latin1');
  const headEnd = source.indexOf('\r\n\r\n');
  const fields = readFields(source.slice(0, headEnd));
  const value = (name: string): string =>
    fields.find((field) => field.name.toLowerCase() === name)?.value ?? '';
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(value('content-type')) ?? [];
  const parts = source.slice(headEnd + 4).split(`--${boundary}`);
  const replyTo = value('reply-to');
  return {
    messageId: value('message-id').replace(/^<|>$/g, ''),
    from: readMailbox(value('from')),
    to: readMailbox(value('to')),
    replyTo: replyTo === '' ? null : readMailbox(replyTo),
    subject: decodeWords(value('subject')),
    text: partText(parts[1] ?? ''),
    html: partText(parts[2] ?? ''),
    headers: fields
      .filter(({ name }) => !WRITTEN_BY_PROVIDER.test(name))
      .map(({ name, value: raw }) => ({ name, value: decodeWords(raw) })),
  };
}

function readFields(head: string): { name: string; value: string }[] {
  return head
    .replaceAll(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() };
    });
}

/** Joins adjacent encoded words, as they were split within a text (RFC 2047, section 6.2). */
function decodeWords(value: string): string {
  return value
    .replaceAll(/\?=\s+(?==\?)/g, '?=')
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/g, (_, encoding: string, text: string) =>
      encoding === 'B'
        ? Buffer.from(text, 'base64').toString('utf8')
        : decodeHex(text.replaceAll('_', ' ')).toString('utf8'),
    );
}

function readMailbox(value: string): Mailbox {
  const [, phrase = '', address = value] = /^(.*?)\s*<([^<>]*)>$/.exec(value) ?? [];
  const quoted = /^"(.*)"$/.exec(phrase);
  const name = quoted ? (quoted[1] ?? '').replaceAll(/\\(.)/g, '$1') : decodeWords(phrase);
  return { name, address };
}

function partText(part: string): string {
  const start = part.indexOf('\r\n\r\n');
  const body = part.slice(start + 4).replace(/\r\n$/, '');
  return decodeHex(body.replaceAll('=\r\n', '')).toString('utf8').replaceAll('\r\n', '\n');
}

function decodeHex(text: string): Buffer {
  return Buffer.from(
    text.replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** Formats a mailbox for the JSON of a provider, which encodes names that are not ASCII itself. */
export function mailboxText({ name, address }: Mailbox): string {
  return name === '' ? address : `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`;
}
