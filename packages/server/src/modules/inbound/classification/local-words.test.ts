import { describe, expect, it } from 'vitest';
import { classifyMail } from './classify-mail.ts';
import { readMail } from './read-mail.ts';

/** A report as Sendmail writes it: the remote answer is copied, and Sendmail's own words follow. */
const reportOf = (diagnostic: string, notice: string[]): string[] => [
  'From: MAILER-DAEMON@relay.example.com',
  'Subject: Returned mail: see transcript for details',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=B',
  '',
  '--B',
  'Content-Type: text/plain',
  '',
  ...notice,
  '--B',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; relay.example.com',
  '',
  'Final-Recipient: RFC822; max@example.org',
  'Action: failed',
  'Status: 5.1.1',
  'Remote-MTA: DNS; mx.example.org',
  `Diagnostic-Code: ${diagnostic}`,
  '--B--',
  '',
];

const LOCAL = '550 5.1.1 <max@example.org>... User unknown';
const transcript = (reply: string): string[] => [
  '   ----- Transcript of session follows -----',
  '... while talking to mx.example.org.:',
  '>>> RCPT To:<max@example.org>',
  `<<< ${reply}`,
  LOCAL,
];

const FORMS: [string, (reply: string) => string[]][] = [
  ['the diagnostic and a transcript', (reply) => reportOf(`SMTP; ${reply}`, transcript(reply))],
  [
    'the diagnostic and a reason',
    (reply) =>
      reportOf(`SMTP; ${reply}`, [
        '   ----- The following addresses had permanent fatal errors -----',
        '<max@example.org>',
        `    (reason: ${reply})`,
        '',
        LOCAL,
      ]),
  ],
  ['a transcript alone', (reply) => reportOf('X-Local; 550 5.1.1 User unknown', transcript(reply))],
  [
    'a transcript without a standard report',
    (reply) => [
      'From: MAILER-DAEMON@relay.example.com',
      'Subject: Returned mail: User unknown',
      '',
      ...transcript(reply),
    ],
  ],
];

describe('classifyMail on a report with local words', () => {
  it.each(FORMS)('follows the remote answer in %s', async (_form, linesFor) => {
    const classFor = async (reply: string): Promise<string[]> =>
      classifyMail(await readMail(Buffer.from(linesFor(reply).join('\r\n')))).recipients.map(
        (recipient) => recipient.class,
      );
    expect(await classFor('553 Go away, you are in my list')).toEqual(['soft']);
    expect(await classFor('550 Rejected: your country')).toEqual(['soft']);
    expect(await classFor('550 http://www.example.org/why?ip=192.0.2.7')).toEqual(['policy']);
    expect(await classFor('550 No such user')).toEqual(['hard']);
    expect(await classFor('550 5.1.1 <max@example.org>')).toEqual(['hard']);
  });
});
