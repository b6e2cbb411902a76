import { describe, expect, it } from 'vitest';
import { classifyMail } from './classify-mail.ts';
import { isOnlyTitledAuto } from './auto-reply.ts';
import type { MailClassification } from './classification.ts';
import { readMail } from './read-mail.ts';

const ENVELOPE = { from: 'zoe@example.net', to: ['r+token@in.example.com'] };
const classify = async (lines: string[]): Promise<MailClassification> =>
  classifyMail(await readMail(Buffer.from(lines.join('\r\n'))), ENVELOPE);

const fromZoe = (subject: string, ...body: string[]): string[] => [
  'From: Zoe <zoe@example.net>',
  'To: r+token@in.example.com',
  `Subject: ${subject}`,
  'Content-Type: text/plain; charset=utf-8',
  '',
  ...body,
];

const FORWARDED_BOUNCES: [string, string[]][] = [
  [
    'inline by Gmail',
    fromZoe(
      'Fwd: Delivery Status Notification (Failure)',
      '---------- Forwarded message ---------',
      'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Subject: Delivery Status Notification (Failure)',
      '',
      "Your message wasn't delivered to max@example.org because the address couldn't be found.",
      'The response was: 550 5.1.1 No such user',
    ),
  ],
  [
    'inline by Outlook, under words of a person and another subject',
    fromZoe(
      'RE: Problem',
      'Please have a look.',
      '',
      'Von: Mail Delivery System',
      'Gesendet: Dienstag, 3. März 2026 10:00',
      'An: Zoe',
      'Betreff: Undelivered Mail Returned to Sender',
      '',
      'Your message could not be delivered to one or more recipients.',
    ),
  ],
  [
    'as a quotation',
    fromZoe(
      'Re: Undelivered Mail Returned to Sender',
      'On Tue, 3 Mar 2026 at 10:00, MAILER-DAEMON@mx.example.org wrote:',
      '> I could not deliver your message.',
    ),
  ],
  [
    'as a copy of the report alone',
    fromZoe(
      'copy',
      'The message was not delivered.',
      '> Reporting-MTA: dns; mx.example.org',
      '> Final-Recipient: rfc822; max@example.org',
      '> Action: failed',
    ),
  ],
  [
    'with a translated prefix and title',
    fromZoe('WG: Unzustellbar: Hallo', 'Die Nachricht konnte nicht zugestellt werden: user unknown'),
  ],
  [
    'as an attachment',
    [
      'From: Zoe <zoe@example.net>',
      'Subject: Problem',
      'Content-Type: multipart/mixed; boundary=B',
      '',
      '--B',
      'Content-Type: text/plain',
      '',
      'See the attached email.',
      '--B',
      'Content-Type: message/rfc822',
      '',
      'From: MAILER-DAEMON@mx.example.org (Mail Delivery System)',
      'Subject: Undelivered Mail Returned to Sender',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=C',
      '',
      '--C',
      '',
      'The address does not exist.',
      '--C--',
      '--B--',
      '',
    ],
  ],
];

describe('classifyMail', () => {
  it.each(FORWARDED_BOUNCES)('does not take a bounce forwarded %s for a reply', async (_title, lines) => {
    expect((await classify(lines)).kind).toBe('auto_reply');
    const mail = await readMail(Buffer.from(lines.join('\r\n')));
    expect(isOnlyTitledAuto(mail, { ...ENVELOPE, subject: mail.subject })).toBe(false);
  });

  it.each([
    fromZoe('Re: Welcome', 'My mail to Ada came back: "550 5.1.1 User unknown". It could not be delivered.'),
    fromZoe('Fwd: Your invoice', 'The parcel could not be delivered. Can you send it again?'),
    fromZoe('Re: Welcome', 'From: Berlin', 'Could not be delivered to: my desk'),
  ])("takes a human's email about bounces for a reply", async (...lines) => {
    expect((await classify(lines)).kind).toBe('reply');
  });
});

const BOUNCE = {
  notificationType: 'Bounce',
  mail: { headers: [{ name: 'Message-ID', value: '<0195-welcome@example.com>' }] },
  bounce: {
    bouncedRecipients: [
      { emailAddress: 'max@example.org', action: 'failed', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
    ],
  },
};
const fromSns = (...body: string[]): string[] => [
  'From: AWS Notifications <no-reply@sns.amazonaws.com>',
  'To: r+token@in.example.com',
  'Subject: AWS Notification Message',
  'x-amz-sns-message-id: 3a2b1c00-0000-4000-8000-000000000000',
  '',
  ...body,
  '',
  '--',
  'If you wish to stop receiving notifications, visit the link.',
];

describe('SNS notification', () => {
  const json = JSON.stringify(BOUNCE);
  const half = Math.floor(json.length / 2);

  it.each([
    ['on one line', [json]],
    ['broken by Sendmail', [`${json.slice(0, half)}!`, ` ${json.slice(half)}`]],
    ['wrapped', [json.slice(0, half), json.slice(half)]],
    ['in the envelope of SNS', [JSON.stringify({ Type: 'Notification', Message: json })]],
  ])('is read as the report in its JSON: %s', async (_title, body) => {
    expect(await classify(fromSns(...body))).toMatchObject({
      kind: 'dsn',
      recipients: [{ address: 'max@example.org', class: 'hard', status: '5.1.1' }],
      originalMessageId: '<0195-welcome@example.com>',
    });
  });

  it.each([
    ['cut off', [json.slice(0, half)]],
    ['with an empty line in it', [json.slice(0, half), '', json.slice(half)]],
    ['without JSON', ['You have chosen to subscribe to the topic.']],
    ['with other JSON', ['{"AlarmName":"high load"}']],
  ])('is never a reply: %s', async (_title, body) => {
    const lines = fromSns(...body);
    expect((await classify(lines)).kind).toBe('auto_reply');
    const mail = await readMail(Buffer.from(lines.join('\r\n')));
    expect(isOnlyTitledAuto(mail, { ...ENVELOPE, subject: mail.subject })).toBe(false);
  });

  it.each(['x-amz-sns-topic-arn', 'x-amz-sns-message-type', 'X-Amz-Sns-Subscription-Arn'])(
    'is recognized by %s alone',
    async (name) => {
      const lines = fromSns(json.slice(0, half)).map((line) =>
        line.startsWith('x-amz-sns-message-id:')
          ? `${name}: arn:aws:sns:eu-west-1:123456789012:bounces`
          : line,
      );
      expect((await classify(lines)).kind).toBe('auto_reply');
    },
  );
});
