import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { composeForward, type Forward } from './compose-forward.ts';

const FORWARD: Forward = {
  messageId: 'one@acme.test',
  date: new Date('2026-01-02T03:04:05Z'),
  from: { name: 'Ada via Acme', address: 'hello@acme.test' },
  to: 'team@acme.test',
  replyTo: { name: 'Ada', address: 'ada@home.test' },
  subject: 'Re: Welcome',
  note: null,
  headers: [{ name: 'X-Beckon-Forwarded', value: '1' }],
};

const composed = async (raw: string | Buffer, forward = FORWARD): Promise<string | null> =>
  (await composeForward(Buffer.from(raw as string, 'latin1'), forward, null))?.toString('latin1') ?? null;

test('keeps only the old fields that describe the body, complete and folded as they were', async () => {
  const raw =
    'Received: from evil\r\nBcc: eve@evil.test\r\nFrom: ada@home.test\r\nDKIM-Signature: v=1\r\nMIME-Version: 1.0\r\n' +
    'content-TYPE: multipart/mixed;\r\n\tboundary="M"\r\nContent-Transfer-Encoding : 8bit\r\nX-Other: 1\r\n\r\nbody\r\n';
  expect(await composed(raw)).toBe(
    'From: Ada via Acme <hello@acme.test>\r\nTo: team@acme.test\r\nReply-To: Ada <ada@home.test>\r\n' +
      'Subject: Re: Welcome\r\nDate: Fri, 02 Jan 2026 03:04:05 +0000\r\nMessage-ID: <one@acme.test>\r\n' +
      'X-Beckon-Forwarded: 1\r\nMIME-Version: 1.0\r\ncontent-TYPE: multipart/mixed;\r\n\tboundary="M"\r\n' +
      'Content-Transfer-Encoding : 8bit\r\n\r\nbody\r\n',
  );
});

test('puts a note before the email, and encloses it unchanged', async () => {
  const raw =
    'Mime-version: 1.0\nContent-Type: multipart/mixed; boundary="M"\nContent-Transfer-Encoding: 8bit\n\n' +
    '--M\nContent-Type: text/plain; charset=utf-8\n\nmer\xc3\xa7i\n--M\nContent-Type: image/png\n\npicture\n--M--\n';
  const mime = await composed(raw, { ...FORWARD, replyTo: null, note: 'жора@home.test wrote this.' });
  expect(mime).not.toMatch(/^Reply-To:/m);
  expect(mime?.match(/^mime-version:/gim)).toHaveLength(1);
  const mail = await PostalMime.parse(Buffer.from(mime ?? '', 'latin1'));
  expect(mail.text?.split('\n')[0]).toBe('жора@home.test wrote this.');
  expect(mail.text).toContain('merçi');
  expect(mail.attachments).toMatchObject([{ mimeType: 'image/png' }]);
});

test('puts a note before an email without a content type', async () => {
  const mime = await composed('From: x\n\nplain words', { ...FORWARD, note: 'A note.' });
  const mail = await PostalMime.parse(Buffer.from(mime ?? '', 'latin1'));
  expect(mail.text).toMatch(/^A note\.\n+plain words\n*$/);
});

test('normalizes line ends to CRLF, and removes NUL', async () => {
  const mime = await composed('From: x\n\nlone\nreturn\rboth\r\nnul\0.');
  expect(mime?.split('\r\n\r\n')[1]).toBe('lone\r\nreturn\r\nboth\r\nnul.');
});

test.each([
  ['no end of the header', 'From: x'],
  ['a field of the body that no server takes', 'Content-Type: text/plain; name="\xe9"\r\n\r\nx'],
  ['more fields of the body than one has', `${'Content-Type: text/plain\r\n'.repeat(21)}\r\nx`],
  ['a header longer than any', `X: ${'y'.repeat(600_000)}\r\n\r\nx`],
])('returns null for %s', async (_, raw) => {
  expect(await composed(raw)).toBeNull();
});

test('writes its own header for any email: one of each field, and no line of a third party', async () => {
  const words = fc.oneof(
    fc.constantFrom(
      '\r\nBcc: eve@evil.test',
      '\nTo: eve@evil.test\n\n',
      '\0',
      '=?utf-8?B?DQo=?=',
      'é',
      '"',
      '<',
      ',',
    ),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  const bytes = fc.uint8Array({ maxLength: 300 }).map((values) => Buffer.from(values).toString('latin1'));
  await fc.assert(
    fc.asyncProperty(words, words, bytes, async (subject, name, rest) => {
      const raw = `Content-Type: text/plain\r\n${rest}\r\n\r\n${rest}`;
      const replyTo = { name, address: 'ada@home.test' };
      const mime = await composed(raw, { ...FORWARD, subject, replyTo });
      if (mime === null) return;
      const [head = ''] = mime.split('\r\n\r\n');
      expect(head.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
      const names = head
        .split(/\r\n(?![ \t])/)
        .map((field) => field.slice(0, field.indexOf(':')).trim().toLowerCase());
      for (const once of ['from', 'to', 'reply-to', 'subject', 'date', 'message-id'])
        expect([once, names.filter((name) => name === once).length]).toEqual([once, 1]);
      expect(names).not.toContain('bcc');
    }),
  );
});
