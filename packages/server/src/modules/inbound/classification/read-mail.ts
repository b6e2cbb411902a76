import addressparser from 'nodemailer/lib/addressparser';
import PostalMime, { decodeWords, type Attachment, type Email } from 'postal-mime';
import {
  addressesIn,
  type Fields,
  firstOf,
  type InboundMail,
  linesOf,
  type MailHeader,
  type MailPart,
  messageIdsIn,
  readFields,
} from './mail.ts';
import { htmlToText } from './html-text.ts';

export const MAIL_BYTES_MAX = 10 * 1024 * 1024;
/** Each line costs memory of its own while parts are parsed: ten million empty lines cost gigabytes. */
const LINES_MAX = 150_000;
const HEADER_BYTES_MAX = 512 * 1024;
const DEPTH_MAX = 20;
const PARTS_MAX = 50;
const PART_CHARS_MAX = 1024 * 1024;
const HEADERS_MAX = 500;
const TEXT_CHARS_MAX = 1024 * 1024;
const ADDRESSES_MAX = 100;
const IDS_MAX = 50;
const SUBJECT_CHARS_MAX = 2_000;

/** Never throws on any bytes. The result does not depend on the line endings. */
export async function readMail(raw: Uint8Array): Promise<InboundMail> {
  const { bytes, cut } = plainLines(raw);
  try {
    const email = await PostalMime.parse(bytes, {
      forceRfc822Attachments: true,
      attachmentEncoding: 'utf8',
      maxNestingDepth: DEPTH_MAX,
      maxHeadersSize: HEADER_BYTES_MAX,
    });
    const mail = fromEmail(email, cut);
    if (mail.text !== '' || mail.parts.length > 0) return mail;
    // Parts whose boundary differs from the announced one, as some gateways write them.
    return { ...mail, text: bodyOf(linesOf(new TextDecoder().decode(bytes.subarray(0, TEXT_CHARS_MAX)))) };
  } catch {
    // The message exceeds the bounds of depth or headers. Its own headers and the text after them can still show what it is.
    return fromPlainText(new TextDecoder().decode(bytes.subarray(0, HEADER_BYTES_MAX)));
  }
}

const [LF, CR] = [10, 13];
const MBOX_LINE = Buffer.from('From ');

/** Converts line ends to LF, and removes what mailboxes put in front of a message (empty lines, `From …`). */
function plainLines(raw: Uint8Array): { bytes: Uint8Array; cut: boolean } {
  const end = Math.min(raw.length, MAIL_BYTES_MAX);
  const out = Buffer.alloc(end);
  let [length, lines, at] = [0, 0, 0];
  for (; at < end && lines < LINES_MAX; at++) {
    const byte = raw[at] ?? 0;
    if (byte === CR && raw[at + 1] === LF) continue;
    const isEnd = byte === CR || byte === LF;
    if (isEnd) lines += 1;
    if (!isEnd || length > 0) out[length++] = isEnd ? LF : byte;
  }
  const bytes = out.subarray(0, length);
  const first = bytes.subarray(0, MBOX_LINE.length).equals(MBOX_LINE) ? bytes.indexOf(LF) + 1 : 0;
  return { bytes: bytes.subarray(first), cut: at < raw.length };
}

function fromEmail(email: Email, cut: boolean): InboundMail {
  const headers = email.headers
    .slice(0, HEADERS_MAX)
    .map(({ key, value }) => ({ name: key, value: value.trim() }));
  const parts = email.attachments.slice(0, PARTS_MAX).map(toPart);
  const overfull = email.headers.length > HEADERS_MAX || email.attachments.length > PARTS_MAX;
  return { ...headerFields(headers), ...textFields(email.text, email.html), parts, cut: cut || overfull };
}

function toPart({ mimeType, content }: Attachment): MailPart {
  const text = typeof content === 'string' ? content : '';
  return { type: mimeType.toLowerCase(), text: unified(text).slice(0, PART_CHARS_MAX) };
}

function headerFields(
  headers: Fields,
): Omit<InboundMail, 'text' | 'textIsFromHtml' | 'html' | 'parts' | 'cut'> {
  const all = (...names: string[]): string =>
    headers.flatMap(({ name, value }) => (names.includes(name) ? [value] : [])).join(' ');
  return {
    headers,
    from: authorOf(firstOf(headers, 'from') ?? ''),
    to: addressesIn(all('to', 'cc', 'delivered-to'), ADDRESSES_MAX),
    subject: decoded(firstOf(headers, 'subject') ?? '').slice(0, SUBJECT_CHARS_MAX),
    messageId: messageIdsIn(firstOf(headers, 'message-id') ?? '', 1)[0] ?? null,
    inReplyTo: messageIdsIn(all('in-reply-to'), IDS_MAX),
    references: messageIdsIn(all('references'), IDS_MAX),
  };
}

function textFields(
  text: string | undefined,
  html: string | undefined,
): Pick<InboundMail, 'text' | 'textIsFromHtml' | 'html'> {
  const plain = unified(text ?? '').slice(0, TEXT_CHARS_MAX);
  const marked = html === undefined ? null : unified(html).slice(0, TEXT_CHARS_MAX);
  if (plain.trim() !== '' || marked === null) return { text: plain, textIsFromHtml: false, html: marked };
  return { text: htmlToText(marked), textIsFromHtml: true, html: marked };
}

function fromPlainText(text: string): InboundMail {
  const lines = linesOf(text);
  const headers: MailHeader[] = readFields(lines).slice(0, HEADERS_MAX);
  return {
    ...headerFields(headers),
    text: bodyOf(lines),
    textIsFromHtml: false,
    html: null,
    parts: [],
    cut: true,
  };
}

function bodyOf(lines: string[]): string {
  const end = lines.findIndex((line) => line.trim() === '');
  return end < 0 ? '' : unified(lines.slice(end + 1).join('\n')).trim();
}

function decoded(value: string): string {
  return decodeWords(value.slice(0, SUBJECT_CHARS_MAX));
}

/** Encoded text may have had its own line ends. */
function unified(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', '');
}

const CHARS_MAX = 2_000;
/**
 * No quotes, no second @, and a domain as the DNS has it. Text that two parsers could read as two addresses is not accepted as an address.
 */
const PLAIN = /^[^\s\p{Cc}@<>"(),:;[\]\\]{1,128}@(?:[a-z\d_-]{1,63}\.){0,10}[a-z\d_-]{1,63}$/iu;

/** Returns the author of a `From` in lower case; null unless it is one address. Uses the same parser as the DMARC check. */
export function authorOf(from: string): string | null {
  if (from.length > CHARS_MAX) return null;
  const [author, ...others] = addressparser(from);
  const address = author?.address ?? '';
  return others.length === 0 && PLAIN.test(address) ? address.toLowerCase() : null;
}

/** Returns the author's name in a `From`, empty if it has only an address. An encoded name may contain any character. */
export function authorNameOf(from: string): string {
  const head = from.slice(0, CHARS_MAX);
  const before = head.slice(0, Math.max(head.lastIndexOf('<'), 0)).trim();
  // RFC 2047 forbids encoding within quotes, but many programs do it.
  return decodeWords(before.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1'));
}
