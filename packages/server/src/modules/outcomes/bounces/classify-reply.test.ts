import fc from 'fast-check';
import { expect, it } from 'vitest';
import { classifyReply } from './classify-reply.ts';
import { normaliseReply } from './refusal.ts';
import type { ReplyClass, SmtpStage } from '../../../platform/mail/smtp-reply.ts';

const at = (stage: SmtpStage, reply: string) =>
  classifyReply({ stage, code: Number(reply.slice(0, 3)), reply });

const STAGES: SmtpStage[] = ['connect', 'greeting', 'ehlo', 'tls', 'auth', 'mail', 'rcpt', 'data', 'body'];

it.each(['connect', 'greeting', 'ehlo', 'tls', 'auth', 'mail'] as const)(
  'attributes a refusal at %s to the relay, never to the recipient, and allows a retry',
  (stage) => {
    for (const reply of [
      '550 5.1.1 User unknown',
      '451 4.3.0 Later',
      '535 5.7.8 No',
      '554 5.7.1 Blocked',
      '550 Mailbox full',
    ]) {
      expect(at(stage, reply)).toMatchObject({ class: 'infrastructure', retry: true });
    }
  },
);

it('does not retry an email refused at MAIL as too large', () => {
  expect(at('mail', '552 5.3.4 Message size exceeds fixed limit')).toMatchObject({
    class: 'policy',
    retry: false,
  });
});

it.each<[string, ReplyClass]>([
  ['550 5.1.1 <zoe@home.test>: Recipient address rejected: User unknown in virtual mailbox table', 'hard'],
  ['550-5.1.1 The email account that you tried to reach does not exist.\n550 5.1.1 Please try again', 'hard'],
  ['556 5.1.10 home.test does not accept mail (nullMX)', 'hard'],
  ['550 5.1.2 Bad destination system', 'hard'],
  ['550 No such user here', 'hard'],
  ['550 5.7.1 <zoe@home.test>: User unknown', 'hard'],
  ['550 Requested action not taken: mailbox unavailable', 'hard'],
  ["550 5.5.0 This user doesn't have a home.test account (zoe@home.test)", 'hard'],
  ['550 Invalid recipient zoe@home.test', 'hard'],
  [
    '550 5.4.4 Host or domain name not found. Name service error for name=home.test type=MX: no such domain',
    'hard',
  ],
  ['553 5.1.3 The recipient is not an address', 'hard'],

  ['550 5.2.1 The email account that you tried to reach is disabled', 'soft'],
  ['552 5.2.2 Mailbox full', 'soft'],
  ['550 5.2.1 zoe@home.test mailbox is full', 'soft'],
  ['550 5.1.1 The user has exceeded the storage quota', 'soft'],
  ['552 Requested mail action aborted: exceeded storage allocation, user is over quota', 'soft'],
  ['450 4.2.2 Over quota', 'soft'],
  ['452 Too little space', 'soft'],
  ['550 Rejected', 'soft'],
  ['550 5.0.0 Something', 'soft'],

  ['550 5.7.26 This mail is unauthenticated: SPF did not pass', 'policy'],
  ['554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.example.test', 'policy'],
  ['550 5.1.1 Message rejected as spam', 'policy'],
  ['550 Your IP has a poor reputation', 'policy'],
  ['550 5.3.4 Message too big for system', 'policy'],
  ['554 5.6.0 Message contents are not acceptable', 'policy'],
  ['550 5.2.3 Message too large', 'policy'],
  ['451 4.7.1 Greylisted, please try again later', 'policy'],
  ['450 4.2.1 The user you are trying to contact is receiving mail at a rate that is too high', 'policy'],

  ['554 5.7.1 <zoe@home.test>: Relay access denied', 'policy'],
  ['550 5.7.1 Authentication required', 'policy'],

  ['451 4.3.0 Temporary lookup failure', 'infrastructure'],
  ['550 4.4.1 No answer from host', 'infrastructure'],
  ['530 5.7.0 Must issue a STARTTLS command first', 'infrastructure'],
])('classifies %s at RCPT as %s', (reply, found) => {
  expect(at('rcpt', reply).class).toBe(found);
});

it.each<[string, ReplyClass]>([
  ['550 Rejected', 'policy'],
  ['550 Requested action not taken: mailbox unavailable', 'soft'],
  ['550 User unknown', 'soft'],
  ['554 Transaction failed', 'infrastructure'],
  ['550 5.1.1 User unknown', 'hard'],
  ['552 5.2.2 Mailbox full', 'soft'],
])('classifies %s after the email content as %s', (reply, found) => {
  expect(at('body', reply).class).toBe(found);
});

it.each([
  '554 5.7.1 <zoe@home.test>: Relay access denied',
  '530 5.7.0 Must issue a STARTTLS command first',
  '535 No',
])('attributes a refusal of every email to the relay and allows a retry: %s', (reply) => {
  expect(at('rcpt', reply)).toMatchObject({ isRelayFault: true, retry: true });
  expect(at('rcpt', '451 4.3.0 Temporary lookup failure')).toMatchObject({
    isRelayFault: false,
    retry: true,
  });
  expect(at('rcpt', '550 4.4.1 No answer from host')).toMatchObject({ isRelayFault: false, retry: false });
});

it.each([
  '554 5.7.1 <ada@home.test>: Recipient address rejected: Access denied',
  '450 4.7.1 <ada@home.test>: Recipient address rejected: Access denied',
  '554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: Access denied',
  '554 5.7.1 <mx.example.com[192.0.2.1]>: Client host rejected: Access denied',
  '450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]',
])('attributes a refusal of our client at RCPT to the relay, never to the recipient: %s', (reply) => {
  expect(at('rcpt', reply)).toMatchObject({ class: 'policy', isRelayFault: true, retry: true });
});

it.each<[string, object]>([
  [
    '550 5.4.1 [ada@home.test]: Recipient address rejected: Access denied. AS(201806281)',
    { class: 'hard', isRelayFault: false, retry: false },
  ],
  [
    '550 5.1.1 <ada@home.test>: Recipient address rejected: User unknown in local recipient table',
    { class: 'hard', isRelayFault: false, retry: false },
  ],
  [
    '450 4.7.1 <mx.example.com[192.0.2.1]>: Client host rejected: Greylisted, try later',
    { isRelayFault: false, retry: true, slowDown: true },
  ],
  [
    '550 5.1.1 <ada@home.test>: Recipient address rejected: undeliverable address: host mx.home.test said: 554 5.7.1 <relay[192.0.2.1]>: Client host rejected: Access denied',
    { isRelayFault: false, retry: false },
  ],
])(
  'does not attribute a refusal of one recipient or a request to wait to the relay: %s',
  (reply, classification) => {
    expect(at('rcpt', reply)).toMatchObject(classification);
  },
);

it('retries a reply that begins with 4 but not one that begins with 5', () => {
  expect(at('rcpt', '450 4.1.1 User unknown')).toMatchObject({ class: 'soft', retry: true, status: '4.1.1' });
  expect(at('rcpt', '550 5.2.2 Full')).toMatchObject({ class: 'soft', retry: false });
});

it.each([
  ['421 Try again later', true],
  ['450 4.7.28 Unusual rate of mail', true],
  ['451 Too many messages, slow down', true],
  ['450 4.2.0 Busy', false],
  ['550 5.7.1 Too many connections', false],
])('detects in %s a request to slow down: %s', (reply, slowDown) => {
  expect(at('body', reply).slowDown).toBe(slowDown);
  expect(at('mail', reply).slowDown).toBe(slowDown);
});

it('ignores words within an address', () => {
  expect(at('rcpt', '550 5.1.1 <spam.blocked@quota-full.test>: unknown user').class).toBe('hard');
});

it('classifies any reply quickly, and before RCPT never blames the recipient', () => {
  const words = fc.constantFrom(
    '550',
    '5.1.1',
    'user',
    'unknown',
    'mailbox',
    'full',
    'over',
    'quota',
    '<a@b>',
    '\n',
    '\r',
    '\0',
    ':',
    'a.b.c',
    '1.2.3.4',
    'is',
  );
  const reply = fc.oneof(
    fc.string({ maxLength: 500 }),
    fc.array(words, { maxLength: 2_000 }).map((all) => all.join(' ')),
  );
  fc.assert(
    fc.property(fc.constantFrom(...STAGES), fc.integer({ min: 0, max: 999 }), reply, (stage, code, text) => {
      const classification = classifyReply({ stage, code, reply: text });
      expect(classifyReply({ stage, code, reply: text.replaceAll('\r', '') })).toEqual(classification);
      if (STAGES.indexOf(stage) < STAGES.indexOf('rcpt'))
        expect(['infrastructure', 'policy']).toContain(classification.class);
      if (code < 500) expect(classification).toMatchObject({ retry: true });
      if (code < 500) expect(classification.class).not.toBe('hard');
    }),
  );
});

it('classifies a reply of repeated words in linear time', () => {
  const long = `550 ${'user mailbox over the '.repeat(5_000)}`;
  expect(at('rcpt', long).class).toBe('soft');
});

it.each([
  [
    '550-5.1.1 <zoe@home.test>: Recipient address rejected: User unknown\r\n550 5.1.1 https://help.test/?id=A1B2',
    '550 5.1.1 <max.b@other.example>: Recipient address rejected: User unknown 5.1.1 https://help.test/?id=C3D4',
  ],
  [
    '421 4.7.0 [192.0.2.1] Too many, session 9f8e7d6c5b',
    '421 4.7.0 [198.51.100.7] Too many, session 1a2b3c4d5e',
  ],
  [
    '550 Denied by mx1.home.test at 12:03:44 2026-02-03',
    '550 Denied by mx27.other.example at 01:59:00 2026-03-04',
  ],
  ['550 Quota 1048576 used 1048577', '550 Quota 2097152 used 2097999'],
  ['554 rejected d2e1a72fcca58-6ddf4si1.3 - gsmtp', '554 rejected 98adcd31f0e1-aa0b1si9.7 - gsmtp'],
])('normalizes two refusals of one kind to the same text: %s', (first, other) => {
  expect(normaliseReply(first)).toBe(normaliseReply(other));
});

it('normalizes refusals of two kinds to different texts', () => {
  expect(normaliseReply('550 5.1.1 User unknown')).not.toBe(normaliseReply('550 5.7.1 User unknown'));
  expect(normaliseReply('550 User unknown')).not.toBe(normaliseReply('550 Mailbox full'));
});
