import PostalMime, { type Address, type Email } from 'postal-mime';
import type { Mailbox } from '../../../platform/mail/outgoing-email.ts';

/** An email as a mail client reads it. */
export type ReadMail = {
  size: number;
  /** The length of its longest line in bytes, without the line end. */
  longestLine: number;
  /** The headers in their order, including duplicates. Names are in lower case. */
  headers: { name: string; value: string }[];
  subject: string;
  from: Mailbox[];
  replyTo: Mailbox[];
  to: Mailbox[];
  html: string;
  text: string;
  /** Why it could not be parsed. Null if it could. */
  parseError: string | null;
};

const SUBJECT_MAX_CHARS = 1_000;
/** Several times what any email needs. Mail parsers take time quadratic in the length of a crafted header. */
const HEADERS_MAX_BYTES = 64 * 1024;
const HEADERS_MAX = 1_000;
const BOUNDARIES_MAX = 1_000;
const PARSE_OPTIONS = {
  maxNestingDepth: 20,
  maxHeadersSize: HEADERS_MAX_BYTES,
  maxRfc822NestingDepth: 0,
  forceRfc822Attachments: true,
};

/** Reads an email and never throws. If it cannot be parsed, at least its size is returned. */
export async function readMail(raw: Uint8Array): Promise<ReadMail> {
  const { longest, boundaries } = measureLines(raw);
  const bare = { ...EMPTY_MAIL, size: raw.length, longestLine: longest };
  if (boundaries > BOUNDARIES_MAX) return { ...bare, parseError: 'it has too many parts' };
  try {
    return { ...bare, ...shape(await PostalMime.parse(raw, PARSE_OPTIONS)) };
  } catch (error) {
    return { ...bare, parseError: error instanceof Error ? error.message : 'it is not an email' };
  }
}

/** Returns the subject for a list: one line, or empty if it is missing or cannot be read. */
export async function readSubject(raw: Uint8Array): Promise<string> {
  try {
    const { subject = '' } = await PostalMime.parse(headOf(raw), PARSE_OPTIONS);
    return singleLine(subject).slice(0, SUBJECT_MAX_CHARS);
  } catch {
    // Bytes that are not an email are stored all the same. Their page shows what is wrong.
    return '';
  }
}

const EMPTY_MAIL: ReadMail = {
  size: 0,
  longestLine: 0,
  headers: [],
  subject: '',
  from: [],
  replyTo: [],
  to: [],
  html: '',
  text: '',
  parseError: null,
};

function shape(mail: Email): Partial<ReadMail> {
  return {
    headers: mail.headers.slice(0, HEADERS_MAX).map(({ key, value }) => ({ name: key, value })),
    subject: singleLine(mail.subject ?? ''),
    from: mailboxes(mail.from ? [mail.from] : []),
    replyTo: mailboxes(mail.replyTo ?? []),
    to: mailboxes(mail.to ?? []),
    html: mail.html ?? '',
    text: mail.text ?? '',
  };
}

function mailboxes(addresses: Address[]): Mailbox[] {
  return addresses
    .slice(0, HEADERS_MAX)
    .flatMap((address) => address.group ?? [address])
    .map(({ name, address }) => ({ name, address }));
}

/** PostgreSQL stores no NUL, and a list shows no line breaks. */
function singleLine(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .trim();
}

const [CR, LF, DASH] = [13, 10, 45];

/** Returns the lines up to the first empty one. */
function headOf(raw: Uint8Array): Uint8Array {
  const head = raw.subarray(0, HEADERS_MAX_BYTES);
  for (let at = head.indexOf(LF); at >= 0; at = head.indexOf(LF, at + 1)) {
    const next = head[at + 1] === CR ? at + 2 : at + 1;
    if (head[next] === LF) return head.subarray(0, next + 1);
  }
  return head;
}

function measureLines(raw: Uint8Array): { longest: number; boundaries: number } {
  let [longest, boundaries, start] = [0, 0, 0];
  while (start < raw.length) {
    const found = raw.indexOf(LF, start);
    const end = found < 0 ? raw.length : found;
    longest = Math.max(longest, end - start - (raw[end - 1] === CR ? 1 : 0));
    if (raw[start] === DASH && raw[start + 1] === DASH) boundaries += 1;
    start = end + 1;
  }
  return { longest, boundaries };
}
