import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { expect, test } from 'vitest';
import {
  GOOD_HEADERS,
  GOOD_TEXT,
  goodHtml,
  goodEmail,
} from '../../../../testing/factories/outgoing-email.ts';
import type { OutgoingEmail } from '../../../platform/mail/outgoing-email.ts';
import type { EmailCheck, CheckName, CheckStatus } from './check.ts';
import { checkMail, type EmailCheckOptions } from './checks.ts';
import { readPage } from './page.ts';

const AT = Date.UTC(2026, 0, 15, 12);
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const DKIM = { domain: 'acme.test', selector: 'bk2a', privateKey };
const RECORD = `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`;
const keyOf = (name: string): string | null => (name === 'bk2a._domainkey.acme.test' ? RECORD : null);

const check = (raw: Uint8Array, more: Partial<EmailCheckOptions> = {}) =>
  checkMail(raw, { kind: 'user', at: AT, keyOf, ...more });
const compose = (changed: Partial<OutgoingEmail> = {}) => goodEmail({ date: new Date(AT), ...changed }, DKIM);

/** Returns the checks that did not pass. */
const wrong = (checks: EmailCheck[]): string[] =>
  checks.filter(({ status }) => status !== 'ok').map(({ name, status }) => `${name} ${status}`);
const named = (checks: EmailCheck[], name: CheckName): EmailCheck => {
  const found = checks.find((entry) => entry.name === name);
  if (!found) throw new Error(`${name} was not looked at`);
  return found;
};

test('passes every check for a good email and reads it as a mail client does', async () => {
  const { subject, html, text, checks } = await check(await compose());
  expect(wrong(checks)).toEqual([]);
  expect(checks).toHaveLength(15);
  expect(subject).toBe('Three steps are left');
  expect(html.trim()).toBe(goodHtml());
  expect(text.trim()).toBe(GOOD_TEXT.trim());
  expect(named(checks, 'preheader').message).toBe('“Three steps are left before your team can begin.”');
  expect(named(checks, 'contrast').message).toContain('in light and dark mode');
});

type Case = [
  what: string,
  changed: Partial<OutgoingEmail>,
  name: CheckName,
  status: CheckStatus,
  says: RegExp,
];
const more = (html: string): Partial<OutgoingEmail> => ({ html: goodHtml({ more: html }) });
const styled = (css: string, html = ''): Partial<OutgoingEmail> => ({ html: goodHtml({ css, more: html }) });
const linked = (href: string, label = 'Here'): Partial<OutgoingEmail> => ({
  html: goodHtml({ more: `<a href="${href}">${label}</a>` }),
  text: `${GOOD_TEXT}${href}`,
});
const headers = (name: string, value: string): Partial<OutgoingEmail> => ({
  headers: [...GOOD_HEADERS.filter((header) => header.name !== name), { name, value }],
});
const words = 'Some more words of it. ';

test.each<Case>([
  ['no subject', { subject: '' }, 'subject', 'error', /empty/],
  ['a long subject', { subject: 'w'.repeat(71) }, 'subject', 'warning', /71 characters/],
  ['a far too long subject', { subject: 'w'.repeat(201) }, 'subject', 'error', /201 characters/],
  ['a feigned answer', { subject: 'Re: our talk' }, 'subject', 'warning', /reply/],
  ['a subject in capitals', { subject: 'LAST CHANCE' }, 'tone', 'warning', /capitals/],
  ['many exclamation marks', { subject: 'Now!!' }, 'tone', 'warning', /exclamation/],
  ['a hole in the subject', { subject: 'Hello {{ name }}' }, 'placeholders', 'error', /not filled/],
  ['a hole in the body', more('<p>Hello {{name}}</p>'), 'placeholders', 'error', /not filled/],
  ['a value that is none', more('<p>Hello undefined, hi</p>'), 'placeholders', 'warning', /missing/],
  ['no text', { text: '' }, 'text', 'error', /missing/],
  ['hardly any text', { text: 'Hi' }, 'text', 'warning', /almost empty/],
  [
    'a link that the text lacks',
    more('<a href="https://x.test/a">x</a>'),
    'text_links',
    'error',
    /lacks a link/,
  ],
  ['an empty link', linked(''), 'links', 'error', /no URL/],
  ['a placeholder of a link', linked('#'), 'links', 'error', /no URL/],
  ['a link with a gap', linked('https://x.test/{{id}}'), 'links', 'error', /unfilled variable/],
  ['a link with nothing in it', linked('https://x.test/undefined/a'), 'links', 'error', /unfilled variable/],
  ['a link that ends in null', linked('https://x.test/?user=null'), 'links', 'error', /unfilled variable/],
  ['a script in a link', linked('javascript:alert(1)'), 'links', 'error', /not https, http/],
  ['a link without a host', linked('/pricing'), 'links', 'error', /absolute URL/],
  ['a link to this machine', linked('http://localhost:8080/x'), 'links', 'warning', /this machine/],
  ['the same by number', linked('http://127.0.0.1/x'), 'links', 'warning', /this machine/],
  ['a link in the clear', linked('http://x.test/x'), 'links', 'warning', /Use https/],
  ['a link without words', linked('https://x.test/x', ''), 'links', 'warning', /no text/],
  ['no header to unsubscribe', { headers: [] }, 'unsubscribe', 'error', /List-Unsubscribe with an https/],
  [
    'no one-click',
    headers('List-Unsubscribe-Post', 'yes'),
    'unsubscribe',
    'error',
    /List-Unsubscribe-Post: List-Unsubscribe=One-Click is missing/,
  ],
  [
    'one-click in the clear',
    headers('List-Unsubscribe', '<http://acme.test/u>'),
    'unsubscribe',
    'error',
    /not https/,
  ],
  [
    'one-click on this machine',
    headers('List-Unsubscribe', '<http://localhost:8080/u>'),
    'unsubscribe',
    'ok',
    /With a real relay, PUBLIC_URL must be/,
  ],
  [
    'no link to unsubscribe',
    { html: goodHtml().replace(/<a href="[^"]*" style[^>]*>Unsubscribe<\/a>/, '') },
    'unsubscribe',
    'error',
    /no visible unsubscribe link/,
  ],
  ['a nameless sender', { from: { name: '', address: 'a@acme.test' } }, 'headers', 'warning', /no name/],
  ['a deaf sender', { from: { name: 'A', address: 'no-reply@acme.test' } }, 'headers', 'warning', /reply/],
  [
    'an email of another day',
    { date: new Date(AT - 3 * 86_400_000) },
    'headers',
    'warning',
    /more than a day/,
  ],
  ['an image without words', more('<img src="https://x.test/a.png">'), 'images', 'warning', /no alt/],
  [
    'an image in the clear',
    more('<img alt="a" src="http://x.test/a.png">'),
    'images',
    'warning',
    /encryption/,
  ],
  [
    'an image within',
    more('<img alt="a" src="data:image/png;base64,AA==">'),
    'images',
    'warning',
    /embedded/,
  ],
  ['an image nowhere', more('<img alt="a" src="a.png">'), 'images', 'error', /absolute URL/],
  ['many images', more('<img alt="a" src="https://x.test/a.png">'.repeat(9)), 'images', 'warning', /mostly/],
  ['a script', more('<script>x()</script>'), 'html', 'error', /scripts or frames/],
  ['a handler', more('<p onclick="x()">hi</p>'), 'html', 'error', /scripts or frames/],
  ['a frame', more('<iframe src="https://x.test"></iframe>'), 'html', 'error', /scripts or frames/],
  ['a form', more('<form><input></form>'), 'html', 'warning', /remove these elements/],
  ['a sheet elsewhere', more('<link rel="stylesheet" href="a.css">'), 'html', 'warning', /style sheet/],
  ['an import', styled('@import url(a.css); p { margin: 0 }'), 'html', 'warning', /style sheet/],
  ['a position', more('<p style="position: fixed">hi</p>'), 'html', 'warning', /do not support these styles/],
  ['a flex box', styled('.card { display: flex }'), 'html', 'warning', /do not support these styles/],
  ['grey on white', more('<p style="color:#999">pale</p>'), 'contrast', 'error', /almost unreadable/],
  [
    'a paler grey',
    more('<div style="color:#767676;background:#f4f5f7">x</div>'),
    'contrast',
    'warning',
    /hard to/,
  ],
  ['a large HTML', more(`<!--${'x'.repeat(85 * 1024)}-->`), 'size', 'warning', /cannot be sent/],
  ['a huge HTML', more(`<!--${'x'.repeat(101 * 1024)}-->`), 'size', 'error', /at most .* are allowed/],
  [
    'no preview text',
    { html: goodHtml().replace('display:none;max-height:0;overflow:hidden;color:#f4f5f7', '') },
    'preheader',
    'warning',
    /no preview text/,
  ],
  [
    'a long preview text',
    { html: goodHtml().replace('Three steps are', words.repeat(8)) },
    'preheader',
    'warning',
    /more than 150/,
  ],
])('reports %s and what to do about it', async (...[, changed, name, status, says]) => {
  const { checks } = await check(await compose(changed));
  const found = named(checks, name);
  expect(found.message).toMatch(says);
  expect(found.status).toBe(status);
});

const raw = async (from: RegExp | string, to: string): Promise<Buffer> =>
  Buffer.from((await compose()).toString('latin1').replace(from, to), 'latin1');

test('reports a signature that is invalid, missing, from an unknown key or too narrow', async () => {
  const of = async (bytes: Uint8Array, checkOptions: Partial<EmailCheckOptions> = {}): Promise<string> => {
    const { status, message } = named((await check(bytes, checkOptions)).checks, 'dkim');
    return `${status}: ${message}`;
  };
  expect(await of(await compose())).toMatch(/^ok: Signed by acme.test \(bk2a\)/);
  expect(await of(await raw('Three steps are left', 'Two steps are left'))).toMatch(/^error: .*invalid/);
  expect(await of(await compose(), { keyOf: () => null })).toMatch(
    /^warning: .*does not, or no longer, belong/,
  );
  const unsigned = await goodEmail({ date: new Date(AT) });
  expect(await of(unsigned)).toMatch(/^warning: .*not signed/);
  expect(await of(unsigned, { kind: 'team' })).toMatch(/^ok/);
  // The library accepts options that its types do not declare.
  const options = {
    canonicalization: 'relaxed/relaxed',
    headerList: 'from:to:subject',
    signatureData: [{ signingDomain: DKIM.domain, selector: DKIM.selector, privateKey }],
  } as unknown as Parameters<typeof dkimSign>[1];
  const { signatures } = await dkimSign(unsigned, options);
  const narrow = (await check(Buffer.concat([Buffer.from(signatures), unsigned]))).checks;
  expect(named(narrow, 'dkim')).toMatchObject({
    status: 'error',
    detail: ['list-unsubscribe', 'list-unsubscribe-post'],
  });
  // A header added after signing breaks the signature.
  const added = { headers: GOOD_HEADERS.slice(0, 1) };
  const late = (await compose(added))
    .toString('latin1')
    .replace('MIME-Version', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nMIME-Version');
  expect(await of(Buffer.from(late, 'latin1'))).toMatch(/^error/);
});

test('reports headers that occur twice, are missing or are invalid', async () => {
  const of = async (bytes: Uint8Array): Promise<EmailCheck> => named((await check(bytes)).checks, 'headers');
  const doubled = await of(await raw('From: ', 'From: Eve <eve@x.test>\r\nFrom: '));
  expect(doubled).toMatchObject({ status: 'error', detail: expect.arrayContaining(['from']) });
  expect((await of(await raw(/^Date: .*\r\n/m, ''))).message).toContain('Date is missing');
  expect((await of(await raw(/^Date: .*\r\n/m, 'Date: soon\r\n'))).message).toContain(
    'Date is not a valid date',
  );
  expect((await of(await raw(/^Message-ID: .*\r\n/m, ''))).message).toContain('Message-ID is missing');
  expect((await of(await raw('Message-ID: <', 'Message-ID: '))).message).toContain('<name@domain>');
  expect((await of(await raw('To: ', 'To: eve@x.test, '))).message).toContain(
    'only the address of the recipient',
  );
  expect((await of(await raw('Subject: ', 'X-Name: Jos\u{E9}\r\nSubject: '))).message).toContain('non-ASCII');
});

test('requires neither an unsubscribe link nor a signature in an email to the team', async () => {
  const email = await goodEmail({ date: new Date(AT), headers: [] });
  expect(wrong((await check(email)).checks)).toEqual(['dkim warning', 'unsubscribe error']);
  expect(wrong((await check(email, { kind: 'team' })).checks)).toEqual([]);
});

test('reports a line that is too long for servers, and an email that cannot be parsed', async () => {
  const long = await raw('Hello Ada', 'x'.repeat(1_000));
  expect(named((await check(long)).checks, 'mime')).toMatchObject({ status: 'error' });
  const nested = Array.from(
    { length: 50 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  ).join('');
  const { checks, html } = await check(Buffer.from(nested));
  expect(html).toBe('');
  expect(wrong(checks)).toEqual(['mime error']);
});

/** Each is small to send, but would be huge or slow to analyze completely. */
const HOSTILE: Record<string, string> = {
  'tags never closed': '<div>'.repeat(100_000),
  'formats opened again in each paragraph':
    Array.from({ length: 5_000 }, (_, i) => `<b a=${i}>`).join('') + '<p>x'.repeat(20_000),
  'a few formats in many paragraphs':
    Array.from({ length: 200 }, (_, i) => `<b a=${i}>`).join('') + '<p>x'.repeat(20_000),
  'misnested links': '<a><b>'.repeat(100) + '</a>x</b><a>'.repeat(8_000),
  'tables in tables': '<table>'.repeat(200) + 'x<td>'.repeat(20_000),
  'attributes without end': `<a ${Array.from({ length: 40_000 }, (_, i) => `a${i}`).join(' ')}>`,
  'fifty thousand links': '<a href="https://x.test/{{a}}">x</a>'.repeat(50_000),
  'rules against every element': `<style>${'div div div p{color:red}'.repeat(3_000)}</style>${'<div>'.repeat(100)}${'<p>x</p>'.repeat(8_000)}`,
  'braces without end': `<style>${'a{'.repeat(40_000)}</style><p>x`,
  'comments without end': `<style>${'/*'.repeat(40_000)}</style><p>x`,
  'a selector of a thousand': `<style>${'a,'.repeat(40_000)}b{color:red}</style><p>x`,
  'a style of ten thousand': `<p style="${'color:red;'.repeat(10_000)}">x`,
  'brackets in a style': '<p style="color:red;background:url(((((((">x'.repeat(2_500),
};

test.each(Object.entries(HOSTILE))('limits the work for an email made of %s', async (_, html) => {
  const bytes = Buffer.from(
    `From: a@b.test\r\nSubject: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}`,
  );
  const { checks } = await check(bytes);
  expect(checks).toHaveLength(15);
  for (const { message, detail = [] } of checks) {
    expect(message.length).toBeLessThan(2_000);
    expect(detail.length).toBeLessThanOrEqual(21);
    for (const line of detail) expect(line.length).toBeLessThanOrEqual(200);
  }
});

test.each(['tags never closed', 'a few formats in many paragraphs', 'fifty thousand links'])(
  'reports that an email made of %s was not read completely',
  (what) => expect(readPage(HOSTILE[what] ?? '').isCut).toBe(true),
);

test('reads a page down to a depth that no real email has', () => {
  expect(readPage('<div>'.repeat(200)).isCut).toBe(false);
  expect(readPage('<div>'.repeat(300)).isCut).toBe(true);
});

test.each([
  ['a header of a megabyte', `Subject: ${'a b\r\n '.repeat(200_000)}\r\n\r\nx`],
  ['a hundred thousand headers', `${'A: b\r\n'.repeat(100_000)}\r\nx`],
  [
    'a hundred thousand parts',
    `Content-Type: multipart/mixed; boundary=a\r\n\r\n${'--a\r\n\r\nx\r\n'.repeat(100_000)}`,
  ],
  ['parts in parts', 'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n'.repeat(1_000)],
  ['emails in emails', 'Content-Type: message/rfc822\r\n\r\n'.repeat(5_000)],
  ['nothing', ''],
  ['an empty line', '\r\n'],
])('reports a finding for %s', async (_, text) => {
  const { checks } = await check(Buffer.from(text));
  expect(wrong(checks)).not.toEqual([]);
});

const PIECES = `<p style="|">|<style>|</style>|{|}|a.b|@media (prefers-color-scheme:dark)|color:|rgb(|)|#|!important|<a href="|https://|{{|<img|\r\n|;|=?utf-8?q?`;

test('never throws for any bytes', async () => {
  const part = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...PIECES.split('|')));
  const email = fc.tuple(fc.array(part), fc.array(part)).map(([head, body]) => {
    const type = 'Content-Type: text/html; charset=utf-8\r\n';
    return `Subject: ${head.join('')}\r\n${type}\r\n${body.join('')}`;
  });
  await fc.assert(
    fc.asyncProperty(email, async (text) => {
      expect((await check(Buffer.from(text))).checks.length).toBeGreaterThan(1);
    }),
    { numRuns: 150 },
  );
});
