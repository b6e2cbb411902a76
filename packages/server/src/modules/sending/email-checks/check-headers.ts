import type { Mailbox } from '../../../platform/mail/outgoing-email.ts';
import { type EmailCheck, type CheckedEmail, type CheckFinding, findingsOf, checkResult } from './check.ts';
import type { ReadMail } from './read-mail.ts';

const DAY_MS = 86_400_000;
/** RFC 5322, 3.6: these headers occur once at most. */
const SINGLE = [
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'message-id',
  'date',
  'subject',
  'mime-version',
];
const NO_REPLY = /^(?:no|do-?not)[._-]?reply|^donotreply/i;

/** Returns the values of a header in their order. */
export function headersOf(mail: ReadMail, name: string): string[] {
  return mail.headers.filter((header) => header.name === name).map(({ value }) => value);
}

/** Checks From, Reply-To, Message-ID and Date, which every filter looks at first. */
export function checkHeaders({ mail, at }: CheckedEmail): EmailCheck {
  const findings = [
    ...single(mail),
    ...sender(mail),
    ...recipient(mail),
    ...messageId(headersOf(mail, 'message-id')[0]),
    ...date(headersOf(mail, 'date')[0], at),
    ...unencoded(mail),
  ];
  return checkResult('headers', findings, 'From, To, Message-ID and Date are valid.');
}

function single(mail: ReadMail): CheckFinding[] {
  const twice = SINGLE.filter((name) => headersOf(mail, name).length > 1);
  return findingsOf('error', 'A header that is allowed once appears several times.', twice);
}

function sender(mail: ReadMail): CheckFinding[] {
  const [from, ...more] = mail.from;
  if (!from || !isAddress(from) || more.length > 0) {
    const message = 'From has no address. Set the sender with: beckon settings set from_address=….';
    return [{ status: 'error', message }];
  }
  const badReply = mail.replyTo.filter((mailbox) => !isAddress(mailbox)).map(({ address }) => address);
  const replyMailbox = mail.replyTo[0] ?? from;
  return [
    ...findingsOf('error', 'Reply-To has no address. Set it with: beckon settings set reply_to=….', badReply),
    ...(from.name.trim() === ''
      ? [
          warning(
            'The sender has no name, and users open emails from names that they know. Set it with: beckon settings set from_name=….',
          ),
        ]
      : []),
    ...(NO_REPLY.test(replyMailbox.address)
      ? [warning('Recipients cannot reply to it. Set reply_to to an address that your team reads.')]
      : []),
  ];
}

function recipient(mail: ReadMail): CheckFinding[] {
  if (mail.to.length === 1 && mail.to.every(isAddress)) return [];
  const message = 'To must contain only the address of the recipient.';
  return findingsOf('error', message, [mail.to.map(({ address }) => address).join(', ') || '(none)']);
}

function isAddress({ address }: Mailbox): boolean {
  return /^[^\s@<>,"]+@[^\s@<>,"]+$/.test(address) && address.length <= 254;
}

function messageId(value: string | undefined): CheckFinding[] {
  if (value === undefined) return [{ status: 'error', message: 'Message-ID is missing.' }];
  if (/^<[^\s<>@]+@[^\s<>@]+>$/.test(value.slice(0, 998).trim())) return [];
  return findingsOf('error', 'Message-ID must have the form <name@domain>.', [value]);
}

function date(value: string | undefined, at: number): CheckFinding[] {
  if (value === undefined) return [{ status: 'error', message: 'Date is missing.' }];
  const sentAt = Date.parse(value);
  if (Number.isNaN(sentAt)) return findingsOf('error', 'Date is not a valid date.', [value]);
  if (Math.abs(sentAt - at) <= DAY_MS) return [];
  const message =
    'Date differs from the arrival by more than a day, which looks like spam. Check the clock of the server.';
  return findingsOf('warning', message, [value]);
}

/** Only servers with SMTPUTF8 accept raw non-ASCII headers, and relays often lack it. */
function unencoded(mail: ReadMail): CheckFinding[] {
  // oxlint-disable-next-line no-control-regex
  const raw = mail.headers.filter(({ value }) => /[^\x00-\x7f]/.test(value)).map(({ name }) => name);
  return findingsOf('warning', 'A header contains non-ASCII characters that are not encoded.', raw);
}

function warning(message: string): CheckFinding {
  return { status: 'warning', message };
}

/** The headers that the signature must cover, so that they cannot be changed in transit. RFC 8058 requires the last two. */
const COVERED = ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post'];

/** Checks whether the email has a valid signature of its domain. */
export function checkDkim({ mail, dkim, kind }: CheckedEmail): EmailCheck {
  const open = COVERED.filter((name) => headersOf(mail, name).length > 0 && !dkim.covered.includes(name));
  switch (dkim.result) {
    case 'none':
      return checkResult(
        'dkim',
        kind === 'team' ? [] : [UNSIGNED],
        'An email to the team does not need a signature.',
      );
    case 'unknown':
      return checkResult('dkim', [{ ...STRANGE, detail: [dkim.detail] }], '');
    case 'fail':
      return checkResult('dkim', [{ ...BROKEN, detail: [dkim.detail] }], '');
    case 'pass':
      return checkResult(
        'dkim',
        findingsOf('error', 'The signature does not cover required headers.', open),
        `Signed by ${dkim.detail}, and the signature is valid.`,
      );
    default:
      return dkim.result satisfies never;
  }
}

const UNSIGNED: CheckFinding = {
  status: 'warning',
  message:
    'The email is not signed. Add the sender’s domain with beckon domains add before you send real emails.',
};
const STRANGE: CheckFinding = {
  status: 'warning',
  message: 'The email is signed with a key that does not, or no longer, belong to this project’s domains.',
};
const BROKEN: CheckFinding = {
  status: 'error',
  message:
    'Its signature is invalid, so receivers would reject it. The email was changed after it was signed.',
};
