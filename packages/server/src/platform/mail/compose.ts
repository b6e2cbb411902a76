import { createHash } from 'node:crypto';
import { Fault } from '../fault.ts';
import { type DkimSigningKey, type OutgoingEmail, type Mailbox, wireAddress } from './outgoing-email.ts';
import { dkimField } from './dkim.ts';
import { formedField, mailboxField, quotedPrintable, textField } from './encode-text.ts';

/**
 * Composes an email into the bytes that are stored, signed and submitted: multipart/alternative, text before HTML, 7-bit, CRLF. It reads no
 * file and makes no request, and returns the same bytes for the same email. Invalid header values are rejected, not repaired: the renderer
 * decides about a line break in a name.
 */
const SUBJECT_CHARS_MAX = 998;
const NAME_CHARS_MAX = 320;
const VALUE_CHARS_MAX = 2_000;
const HEADERS_MAX = 30;
const MIME_BYTES_MAX = 1_048_576;

const CONTROL = /\p{Cc}/u;
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
const MESSAGE_ID = /^[\w.!#$%&'*+/=?^`{|}~-]{1,128}@[\w.-]{1,253}$/;
/** Fields that are written here, or by servers on the route. */
const RESERVED =
  /^(from|to|cc|bcc|sender|reply-to|subject|date|message-id|mime-version|content-.*|dkim-signature|received|return-path|resent-.*)$/i;

export async function composeMail(email: OutgoingEmail, dkim: DkimSigningKey | null): Promise<Buffer> {
  const boundary = `=_${createHash('sha256').update(email.messageId).digest('hex').slice(0, 32)}`;
  const fields = [
    mailbox('From', email.from),
    mailbox('To', email.to),
    ...(email.replyTo ? [mailbox('Reply-To', email.replyTo)] : []),
    textField('Subject', checked('subject', email.subject, SUBJECT_CHARS_MAX)),
    `Date: ${email.date.toUTCString().replace('GMT', '+0000')}\r\n`,
    `Message-ID: <${messageId(email.messageId)}>\r\n`,
    ...customFields(email.headers),
    'MIME-Version: 1.0\r\n',
    `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`,
  ];
  const body = Buffer.concat([
    partHead(boundary, 'plain'),
    quotedPrintable(email.text),
    partHead(boundary, 'html'),
    quotedPrintable(email.html),
    Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1'),
  ]);
  const signature = dkim ? await dkimField(fields, body, dkim) : '';
  const mime = Buffer.concat([Buffer.from(`${signature}${fields.join('')}\r\n`, 'latin1'), body]);
  if (mime.length > MIME_BYTES_MAX) {
    throw refusal('email', `The email has ${mime.length} bytes; at most ${MIME_BYTES_MAX} are allowed.`);
  }
  return mime;
}

function partHead(boundary: string, kind: 'plain' | 'html'): Buffer {
  return Buffer.from(
    `${kind === 'plain' ? '' : '\r\n'}--${boundary}\r\n` +
      `Content-Type: text/${kind}; charset=utf-8\r\n` +
      'Content-Transfer-Encoding: quoted-printable\r\n\r\n',
    'latin1',
  );
}

function mailbox(field: string, { name, address }: Mailbox): string {
  const wire = wireAddress(address);
  if (wire === null) throw refusal(field, `${field} is not a deliverable address.`);
  return mailboxField(field, { name: checked(field, name, NAME_CHARS_MAX), address: wire });
}

function messageId(id: string): string {
  if (!MESSAGE_ID.test(id)) throw refusal('messageId', 'The Message-ID must have the form name@domain.');
  return id;
}

function customFields(headers: OutgoingEmail['headers']): string[] {
  if (headers.length > HEADERS_MAX) {
    throw refusal('headers', `An email can have at most ${HEADERS_MAX} custom header fields.`);
  }
  const seen = new Set<string>();
  return headers.map(({ name, value }) => {
    if (!FIELD_NAME.test(name) || RESERVED.test(name) || seen.has(name.toLowerCase())) {
      throw refusal('headers', 'A header field needs a unique name of letters, digits and hyphens.');
    }
    seen.add(name.toLowerCase());
    return formedField(name, checked(name, value, VALUE_CHARS_MAX));
  });
}

function checked(field: string, text: string, charsMax: number): string {
  if (CONTROL.test(text))
    throw refusal(field, `${field} contains a control character, such as a line break.`);
  if (text.length > charsMax) throw refusal(field, `${field} can have at most ${charsMax} characters.`);
  return text;
}

function refusal(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
