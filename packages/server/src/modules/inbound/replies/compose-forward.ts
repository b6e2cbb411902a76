import { createHash } from 'node:crypto';
import { dkimField } from '../../../platform/mail/dkim.ts';
import { mailboxField, quotedPrintable, textField } from '../../../platform/mail/encode-text.ts';
import { type DkimSigningKey, type Mailbox, wireAddress } from '../../../platform/mail/outgoing-email.ts';

/** The sender, the recipient and the names with which an incoming email is forwarded. */
export type Forward = {
  /** Without angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: string;
  /** Null if the author has no address that the field can contain. */
  replyTo: Mailbox | null;
  subject: string;
  /** Shown before the email itself. */
  note: string | null;
  /** Our own plain names and values. */
  headers: { name: string; value: string }[];
};

/** The fields that describe the body. No other field of the old header is forwarded. */
const OF_THE_BODY = /^(content-(type|transfer-encoding|disposition|language|id|base)|mime-version)$/;
const HEADER_MAX_BYTES = 512 * 1024;
const BODY_FIELDS_MAX = 20;
const PRINTABLE = /^[\t\r\n\x20-\x7e]*$/;

/**
 * Composes the unchanged body of an email, with its attachments, under our own header and signature. Returns null if the email cannot be
 * forwarded unchanged: its header is malformed, or describes the body in a way that no server accepts.
 */
export async function composeForward(
  raw: Buffer,
  forward: Forward,
  dkim: DkimSigningKey | null,
): Promise<Buffer | null> {
  const divided = divide(withCrlf(raw));
  if (divided === null) return null;
  const parts = forward.note === null ? divided : noted(divided, forward.note, forward.messageId);
  const fields = [...headerFields(forward), ...parts.fields];
  const signature = dkim ? await dkimField(fields, parts.body, dkim) : '';
  return Buffer.concat([Buffer.from(`${signature}${fields.join('')}\r\n`, 'latin1'), parts.body]);
}

function headerFields({ messageId, date, from, to, replyTo, subject, headers }: Forward): string[] {
  return [
    mailbox('From', from),
    mailbox('To', { name: '', address: to }),
    ...(replyTo ? [mailbox('Reply-To', replyTo)] : []),
    textField('Subject', plain(subject)),
    `Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`,
    `Message-ID: <${messageId}>\r\n`,
    ...headers.map(({ name, value }) => textField(name, plain(value))),
  ];
}

function mailbox(field: string, { name, address }: Mailbox): string {
  const wire = wireAddress(address);
  if (wire === null) throw new Error(`${field} is not a deliverable address`);
  return mailboxField(field, { name: plain(name), address: wire });
}

function plain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

type Divided = { fields: string[]; body: Buffer };

/** Encloses the email as a part, regardless of its structure, after a part with the note. */
function noted({ fields, body }: Divided, note: string, messageId: string): Divided {
  const boundary = `=_${createHash('sha256').update(messageId).digest('hex').slice(0, 32)}`;
  const ofPart = fields.filter((field) => !/^mime-version\b/i.test(field));
  return {
    fields: [
      'MIME-Version: 1.0\r\n',
      `Content-Type: multipart/mixed;\r\n boundary="${boundary}"\r\n`,
      // The encoding of the enclosed email is valid only if no part around it declares a narrower one.
      'Content-Transfer-Encoding: 8bit\r\n',
    ],
    body: Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`,
      ),
      quotedPrintable(note),
      Buffer.from(`\r\n--${boundary}\r\n${ofPart.join('')}\r\n`, 'latin1'),
      body,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

function divide(raw: Buffer): Divided | null {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0 || end > HEADER_MAX_BYTES) return null;
  const head = raw.toString('latin1', 0, end + 2);
  const fields = (head.match(/^[^\s:]+[ \t]*:.*\r\n(?:[ \t].*\r\n)*/gm) ?? []).filter((field) =>
    OF_THE_BODY.test(field.slice(0, field.indexOf(':')).trim().toLowerCase()),
  );
  const isReadable = fields.length <= BODY_FIELDS_MAX && fields.every((field) => PRINTABLE.test(field));
  return isReadable ? { fields, body: raw.subarray(end + 4) } : null;
}

const [NUL, LF, CR] = [0, 10, 13];

/** Converts line ends to CRLF, and removes NUL, which ends the text in some servers. */
function withCrlf(raw: Buffer): Buffer {
  const out = Buffer.allocUnsafe(raw.length * 2);
  let length = 0;
  for (let i = 0; i < raw.length; i += 1) {
    const byte = raw[i] ?? 0;
    if (byte === NUL) continue;
    if (byte === CR && raw[i + 1] === LF) continue;
    if (byte === CR || byte === LF) length = out.writeUInt8(CR, length);
    length = out.writeUInt8(byte === CR ? LF : byte, length);
  }
  return out.subarray(0, length);
}
