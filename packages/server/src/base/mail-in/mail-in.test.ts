import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { classifyMail, MAIL_BYTES_MAX, type MailVerdict, readMail, replyText, snippetOf } from './index.ts';

/** Made by Postfix 3.7, Exim 4.96 and OpenSMTPD 6.8 of Debian, and written by hand; `expected.json` says what each is. */
const DIRECTORY = join(import.meta.dirname, '../../../testkit/mail-in');
type Expected = Pick<MailVerdict, 'kind' | 'recipients'> &
  Partial<Pick<MailVerdict, 'feedbackType' | 'envelopeId'>> & { own?: string };
const EXPECTED = JSON.parse(readFileSync(join(DIRECTORY, 'expected.json'), 'utf8')) as Record<
  string,
  Expected
>;
const bytesOf = (file: string): Buffer => readFileSync(join(DIRECTORY, file));
const read = (text: string) => readMail(Buffer.from(text.replaceAll('\n', '\r\n')));

test('every message that is kept is expected to be something', () => {
  expect(readdirSync(DIRECTORY).toSorted()).toEqual([...Object.keys(EXPECTED), 'expected.json'].toSorted());
});

test.each(Object.entries(EXPECTED))('%s is what it is, about whom it is', async (file, expected) => {
  const { own, ...verdict } = expected;
  const mail = await readMail(bytesOf(file));
  expect(classifyMail(mail)).toMatchObject(verdict);
  if (own !== undefined) expect(replyText(mail)).toBe(own);
});

const RETURNED = Object.entries(EXPECTED).filter(
  ([file, { kind }]) => ['dsn', 'complaint'].includes(kind) && !file.startsWith('outlook-complaint'),
);
test.each(RETURNED)(
  '%s gives back the Message-ID and the links of the letter that came back',
  async (file) => {
    const { originalHeaders, originalMessageId } = classifyMail(await readMail(bytesOf(file)));
    expect(originalMessageId).toMatch(/^<0195-welcome.*@example\.com>$/);
    expect(originalHeaders.find(({ name }) => name === 'list-unsubscribe')?.value).toContain(
      'https://beckon.example.com/u/',
    );
  },
);

test('an empty sender tells an automatic answer, and the address it came for an unsubscribing', async () => {
  const mail = await read('From: zoe@example.net\nTo: team@example.com\nSubject: Hello\n\nHello\n');
  const kindFor = (from: string, to: string): string => classifyMail(mail, { from, to: [to] }).kind;
  expect(kindFor('zoe@example.net', 'r+token@in.example.com')).toBe('reply');
  expect(kindFor('', 'r+token@in.example.com')).toBe('auto_reply');
  expect(kindFor('zoe@example.net', 'u+token@in.example.com')).toBe('unsubscribe');
});

test('what Amazon SES tells as JSON is read as the report that it stands for', async () => {
  const bounce = {
    notificationType: 'Bounce',
    mail: { headers: [{ name: 'Message-ID', value: '<0195-welcome@example.com>' }] },
    bounce: {
      bouncedRecipients: [
        {
          emailAddress: 'Zoe@example.net',
          status: '5.1.1',
          action: 'failed',
          diagnosticCode: 'smtp; 550 5.1.1 user unknown',
        },
      ],
    },
  };
  const of = async (told: unknown): Promise<MailVerdict> =>
    classifyMail(
      await read(
        `From: no-reply@sns.amazonaws.com\nSubject: AWS Notification\n\n${JSON.stringify(told)}\n\n--\nYou may unsubscribe\n`,
      ),
    );
  expect(await of(bounce)).toMatchObject({
    kind: 'dsn',
    recipients: [{ address: 'zoe@example.net', class: 'hard', status: '5.1.1' }],
    originalMessageId: '<0195-welcome@example.com>',
  });
  expect(
    await of({
      notificationType: 'Complaint',
      mail: {},
      complaint: { complainedRecipients: [{ emailAddress: 'zoe@example.net' }] },
    }),
  ).toMatchObject({ kind: 'complaint', recipients: [{ address: 'zoe@example.net' }] });
  expect(
    await of({ notificationType: 'Delivery', delivery: { recipients: ['zoe@example.net'] } }),
  ).toMatchObject({
    recipients: [{ class: 'delivered' }],
  });
});

test('a quotation in HTML is no part of the answer, wherever it stands, nor is what nobody sees', async () => {
  const html = (body: string) =>
    read(`From: zoe@example.net\nContent-Type: text/html; charset=utf-8\n\n${body}\n`);
  expect(
    replyText(
      await html(
        '<title>No</title><style>p{}</style><p>Yes &#38; no</p><blockquote>Old <p>older</p></blockquote>',
      ),
    ),
  ).toBe('Yes & no');
  expect(replyText(await html('<p>Unfinished <b'))).toBe('Unfinished');
  expect(replyText(await html('<blockquote>Only this</blockquote>'))).toContain('Only this');
});

test('a snippet is one line of at most 500 signs, none of them half', () => {
  expect(snippetOf('  One\r\n\ttwo\u0000  three ')).toBe('One two three');
  expect(snippetOf('a'.repeat(600))).toHaveLength(500);
  expect(snippetOf(`${'a'.repeat(499)}😀`)).toBe('a'.repeat(499));
});

/** Texts that are slow for whoever tries each of their beginnings with each of their ends. */
const WORDS = [
  'On a ',
  'user mailbox the ',
  'a@',
  '<a@b',
  '> ',
  '\n\n',
  '- ',
  'From: a\nSent: b\n',
  'x'.repeat(70),
  '550 5.',
  '<p>',
  '<!--',
  '&amp',
  '-----',
  'rcpt to:',
  'wrote',
  '(',
  '=?utf-8?B?',
  'not ',
  'message size ',
  '> a\nb\n',
  '> From: mailer-daemon@a\n',
  'final-recipient: a ',
  '{"notificationType":',
  'Fwd: ',
];

const SLOW_TEXT_CHARS = 64 * 1024;
/** What tries beginnings with ends takes hours over 64 KB; what does not, a second on a machine that is busy. */
const REPEATED_TIMEOUT_MS = 60_000;

test.each(WORDS)('64 KB of %j are no work', { timeout: REPEATED_TIMEOUT_MS }, async (word) => {
  const body = word.repeat(Math.ceil(SLOW_TEXT_CHARS / word.length));
  for (const type of ['text/plain', 'text/html']) {
    const subject = `Undelivered ${body.slice(0, 2_000).replaceAll('\n', ' ')}`;
    const mail = await read(
      `From: mailer-daemon@example.org\nSubject: ${subject}\nContent-Type: ${type}\n\n${body}\n`,
    );
    expect(classifyMail(mail).recipients.length).toBeLessThanOrEqual(100);
    expect(snippetOf(replyText(mail)).length).toBeLessThanOrEqual(500);
  }
});

test('a message beyond the bounds is read up to them', { timeout: REPEATED_TIMEOUT_MS }, async () => {
  const deep = Array.from(
    { length: 400 },
    (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\n\n--b${i}\n`,
  ).join('');
  expect(await read(`From: zoe@example.net\nSubject: Deep\n${deep}\nHello\n`)).toMatchObject({
    from: 'zoe@example.net',
    subject: 'Deep',
    cut: true,
  });
  const long = Buffer.alloc(MAIL_BYTES_MAX + 1_000, 'a line of text\n');
  const mail = await readMail(Buffer.concat([Buffer.from('From: zoe@example.net\n\n'), long]));
  expect(mail).toMatchObject({ from: 'zoe@example.net', cut: true });
  expect(classifyMail(mail).kind).toBe('reply');
  const parts = Array.from(
    { length: 5_000 },
    (_, i) => `--b\nContent-Type: image/png; name=${i}\n\nx\n`,
  ).join('');
  expect(
    (await read(`From: a@example.net\nContent-Type: multipart/mixed; boundary=b\n\n${parts}--b--\n`)).parts
      .length,
  ).toBeLessThanOrEqual(50);
});
