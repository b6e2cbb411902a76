import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { expect, it } from 'vitest';
import { composeMail } from './compose.ts';
import type { OutgoingEmail } from './outgoing-email.ts';

const EMAIL: OutgoingEmail = {
  messageId: '0192-ab@mail.shop.test',
  date: new Date('2026-02-03T04:05:06Z'),
  from: { name: 'The Shop', address: 'hello@mail.shop.test' },
  to: { name: 'Zoë', address: 'zoe@home.test' },
  replyTo: { name: 'Help', address: 'help@shop.test' },
  subject: 'Your week',
  text: 'Hello.',
  html: '<p>Hello.</p>',
  headers: [
    { name: 'List-Unsubscribe', value: '<https://shop.test/u/abc>' },
    { name: 'List-Id', value: 'The Shop <letters.shop.test>' },
  ],
};
const FIELDS = [
  'from',
  'to',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'list-unsubscribe',
  'list-id',
  'mime-version',
  'content-type',
];

async function mimeOf(changes: Partial<OutgoingEmail> = {}): Promise<string> {
  return (await composeMail({ ...EMAIL, ...changes }, null)).toString('latin1');
}

const parse = (mime: string) => PostalMime.parse(Buffer.from(mime, 'latin1'));

it('arrives as it was written', async () => {
  const mail = await parse(await mimeOf());
  expect(mail.headers.map(({ key }) => key)).toEqual(FIELDS);
  expect(mail).toMatchObject({
    from: { name: 'The Shop', address: 'hello@mail.shop.test' },
    to: [{ name: 'Zoë', address: 'zoe@home.test' }],
    replyTo: [{ name: 'Help', address: 'help@shop.test' }],
    subject: 'Your week',
    messageId: '<0192-ab@mail.shop.test>',
    date: '2026-02-03T04:05:06.000Z',
    html: '<p>Hello.</p>\n',
    text: 'Hello.\n',
  });
});

it('returns the same bytes for the same email', async () => {
  expect(await mimeOf()).toBe(await mimeOf());
});

it('writes 7-bit lines that end with CRLF and are not too long for any server', async () => {
  const mime = await mimeOf({
    text: `${'é'.repeat(3_000)}\r${'x'.repeat(3_000)}\n   \n`,
    html: `<p>${'word '.repeat(3_000)}</p>\r\n`,
    subject: 'ünï '.repeat(100),
    headers: [{ name: 'List-Id', value: `${'Ünï '.repeat(50)}<a.b>` }],
  });
  expect(mime).toMatch(/^[\x20-\x7e\r\n]*$/);
  expect(mime.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(Math.max(...mime.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(76);
  expect(mime).not.toMatch(/[ \t]\r\n/);
});

const text = fc.string({ unit: 'grapheme', maxLength: 400 });

it('preserves every text through quoted-printable, except for the form of line ends', async () => {
  const bodies = fc.array(
    fc.oneof(text, fc.constantFrom('\n', '\r\n', '.', '=', ' ', '\t', 'From ', 'é'.repeat(40))),
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (pieces) => {
      const body = pieces.join('');
      const mail = await parse(await mimeOf({ html: `<p>${body}</p>` }));
      expect(mail.html?.replace(/\n$/, '')).toBe(`<p>${body.toWellFormed().replace(/\r\n?/g, '\n')}</p>`);
    }),
  );
});

it('preserves every subject and name, except for repeated spaces', async () => {
  const words = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 120 })
    .filter((text) => !/\p{Cc}/u.test(text));
  await fc.assert(
    fc.asyncProperty(words, words, async (subject, name) => {
      const mail = await parse(await mimeOf({ subject, to: { name, address: 'zoe@home.test' } }));
      const tidy = (text: string): string => text.toWellFormed().replace(/ +/g, ' ').trim();
      expect(mail.subject ?? '').toBe(tidy(subject));
      expect(mail.to).toEqual([{ name: tidy(name), address: 'zoe@home.test' }]);
    }),
    { numRuns: 300 },
  );
});

it.each(['=?UTF-8?Q?not_encoded?=', '"quoted" \\ name', 'a, b; c: <d@e.test>'])(
  'preserves text that looks like email syntax: %s',
  async (words) => {
    const mail = await parse(await mimeOf({ subject: words, to: { name: words, address: 'zoe@home.test' } }));
    expect([mail.subject, mail.to]).toEqual([words, [{ name: words, address: 'zoe@home.test' }]]);
  },
);

/** Known attacks: line ends, separators, quotes, and text that looks like addresses, fields or encoded words. */
const TRICKS = [
  '\r\nBcc: evil@x.test',
  '\nBcc: evil@x.test',
  '\rBcc: evil@x.test',
  '\r\n\r\n<script>alert(1)</script>',
  '\0',
  '\u0085Bcc: evil@x.test',
  '\u2028Bcc: evil@x.test',
  '\u2029To: evil@x.test',
  '\u000bCc: evil@x.test',
  '%0d%0aBcc: evil@x.test',
  '=?UTF-8?Q?=0D=0ABcc:_evil@x.test?=',
  '=?UTF-8?B?DQpCY2M6IGV2aWxAeC50ZXN0?=',
  ', evil@x.test',
  '; evil@x.test',
  '" <evil@x.test>, "',
  '\\" <evil@x.test>',
  '> <evil@x.test>',
  '<evil@x.test>',
  '(evil@x.test)',
  'group: evil@x.test;',
  '[evil@x.test]',
  '\ud83d',
  '\udc00\ud800',
  '\u202egro.live@x\u202c',
  '\uff20\uff0c evil',
  'еvil@х.test',
  'ｅvil＠x．test',
  '\ufeff\u200b\u00ad',
  'å'.repeat(300),
  'x'.repeat(1_500),
  ' '.repeat(500),
  '"',
  '\\',
  "'",
  '|/bin/sh',
  '${7*7}{{7}}',
];
const payload = fc.oneof(
  fc.constantFrom(...TRICKS),
  fc
    .tuple(
      fc.constantFrom('', 'Anna ', 'a@b.test'),
      fc.constantFrom(...TRICKS),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    .map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom(...TRICKS, 'a', ' '), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('')),
);
type Injection = (email: OutgoingEmail, payload: string) => OutgoingEmail;
const INJECTIONS: Record<string, Injection> = {
  subject: (email, value) => ({ ...email, subject: value }),
  'the name of the recipient': (email, name) => ({ ...email, to: { ...email.to, name } }),
  'the name of the sender': (email, name) => ({ ...email, from: { ...email.from, name } }),
  'the name of Reply-To': (email, name) => ({ ...email, replyTo: { name, address: 'help@shop.test' } }),
  'a value': (email, value) => ({
    ...email,
    headers: [email.headers[0] ?? { name: '', value }, { name: 'List-Id', value }],
  }),
  'the text': (email, value) => ({ ...email, text: value }),
  'the html': (email, value) => ({ ...email, html: value }),
};

it.each(Object.entries(INJECTIONS))(
  'input in %s is text or is rejected, and never adds a recipient or a field',
  async (_where, inject) => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(payload, async (value) => {
        const mime = await composeMail(inject(EMAIL, value), null).catch(() => null);
        if (!mime) return;
        made += 1;
        const mail = await PostalMime.parse(mime);
        expect(mail.headers.map(({ key }) => key)).toEqual(FIELDS);
        expect(mail.to?.map(({ address }) => address)).toEqual(['zoe@home.test']);
        expect(mail.from?.address).toBe('hello@mail.shop.test');
        expect(mail.replyTo?.map(({ address }) => address)).toEqual(['help@shop.test']);
        expect([mail.cc, mail.bcc]).toEqual([undefined, undefined]);
        expect(mail.attachments).toEqual([]);
      }),
      { numRuns: 150, examples: TRICKS.map((trick) => [trick]) },
    );
    expect(made).toBeGreaterThanOrEqual(TRICKS.length / 2);
  },
);

it('writes an address unchanged or not at all', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        payload,
        payload.map((text) => `zoe${text}@home.test`),
        payload.map((text) => `zoe@${text}`),
      ),
      async (address) => {
        const mime = await composeMail({ ...EMAIL, to: { name: '', address } }, null).catch(() => null);
        if (!mime) return;
        const mail = await PostalMime.parse(mime);
        expect(mail.headers.map(({ key }) => key)).toEqual(FIELDS);
        expect(mail.to).toHaveLength(1);
        expect(mail.to?.[0]?.address).toMatch(/^[^\s<>(),;:"@]+@[a-z\d.-]+$/i);
      },
    ),
    { numRuns: 300 },
  );
});

it('writes an international domain in A-labels', async () => {
  const mime = await mimeOf({ to: { name: '', address: 'zoe@bücher.example' } });
  expect(mime).toContain('To: zoe@xn--bcher-kva.example\r\n');
});

it.each<[string, Partial<OutgoingEmail>]>([
  ['a line break in a subject', { subject: 'a\r\nBcc: x@y.test' }],
  ['a NUL in a name', { from: { name: 'a\0', address: 'a@b.test' } }],
  ['an address with a comma', { to: { name: '', address: 'a@b.test,c@d.test' } }],
  ['an address without a domain', { to: { name: '', address: 'postmaster' } }],
  ['a local part in another script', { to: { name: '', address: 'zoë@b.test' } }],
  ['a Message-ID with an angle bracket', { messageId: 'a>@b.test' }],
  ['a subject without end', { subject: 'x'.repeat(999) }],
  ['a field that is made elsewhere', { headers: [{ name: 'Bcc', value: 'x@y.test' }] }],
  ['a field with a colon in its name', { headers: [{ name: 'X: y\r\nBcc', value: 'x@y.test' }] }],
  [
    'one field twice',
    {
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'x-a', value: '2' },
      ],
    },
  ],
  ['more than a megabyte', { html: 'x'.repeat(1_048_576) }],
])('rejects %s', async (_what, changes) => {
  await expect(mimeOf(changes)).rejects.toMatchObject({ code: 'validation_failed' });
});
