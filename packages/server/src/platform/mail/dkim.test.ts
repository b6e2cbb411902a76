import { generateKeyPairSync } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { expect, it } from 'vitest';
import { composeMail } from './compose.ts';
import type { DkimSigningKey, OutgoingEmail } from './outgoing-email.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'der' },
});
const dkim: DkimSigningKey = { domain: 'mail.shop.test', selector: 'bk1a', privateKey };
const EMAIL: OutgoingEmail = {
  messageId: '0192-ab@mail.shop.test',
  date: new Date('2026-02-03T04:05:06Z'),
  from: { name: 'The Shop', address: 'hello@mail.shop.test' },
  to: { name: 'Zoë', address: 'zoe@home.test' },
  replyTo: { name: '', address: 'help@shop.test' },
  subject: 'Your week',
  text: 'Hello.\n\nhttps://shop.test/',
  html: '<p>Hello.</p>',
  headers: [
    { name: 'List-Unsubscribe', value: '<https://shop.test/u/abc>, <mailto:u+abc@shop.test>' },
    { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    { name: 'List-Id', value: 'The Shop <letters.shop.test>' },
    { name: 'Feedback-ID', value: 'a:b:c:shop1' },
    { name: 'Auto-Submitted', value: 'auto-generated' },
  ],
};

/** Verified by mailauth, which shares no code with the signer. */
async function verify(mime: string): Promise<string | undefined> {
  const { results } = await dkimVerify(Buffer.from(mime, 'latin1'), {
    resolver: (name: string) =>
      Promise.resolve(
        name === 'bk1a._domainkey.mail.shop.test'
          ? [[`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`]]
          : [],
      ),
  });
  return results[0]?.status.result;
}

async function signed(changes: Partial<OutgoingEmail> = {}): Promise<string> {
  return (await composeMail({ ...EMAIL, ...changes }, dkim)).toString('latin1');
}

/** Matches the field with all its folded lines. */
const fieldOf = (name: string): RegExp => new RegExp(`^${name}:.*\\r\\n(?:[ \\t].*\\r\\n)*`, 'im');

const OVER_SIGNED = ['From', 'To', 'Subject', 'Reply-To', 'List-Unsubscribe', 'List-Unsubscribe-Post'];
const SIGNED = [...OVER_SIGNED, 'MIME-Version', 'Content-Type', 'List-Id', 'Feedback-ID', 'Auto-Submitted'];

it.each([
  ['as it is', {}],
  [
    'a folded subject in another script',
    { subject: 'お知らせ：今週のまとめとおすすめの商品について。'.repeat(6) },
  ],
  ['emoji of several code points', { subject: '👩‍👩‍👧‍👦 🇳🇱 it is time', to: { name: '👋🏽', address: 'a@b.test' } }],
  ['a long subject of plain words', { subject: 'a rather long line of words '.repeat(12) }],
  ['two spaces and a tab in the body', { text: 'a  b\tc \t \n', html: '<p>a  b\t</p>\t\n  \n' }],
  ['empty lines at the end of the body', { text: 'end\n\n\n\n', html: '<p>end</p>\n\n \n\n' }],
  ['an empty body', { text: '', html: '' }],
  ['lines that begin with dots and From', { text: '.\n..\nFrom here\n', html: '.\nFrom x\n' }],
  ['no Reply-To', { replyTo: null }],
  ['no header fields of its own', { headers: [] }],
])('a signature verifies with another implementation: %s', async (_what, changes) => {
  expect(await verify(await signed(changes))).toBe('pass');
});

it.each(SIGNED)('detects a changed %s', async (name) => {
  const mime = await signed();
  const changed = mime.replace(fieldOf(name), (field) => field.replace(/\w(?=[^\w]*\r\n$)/, '_'));
  expect(changed).not.toBe(mime);
  expect(await verify(changed)).not.toBe('pass');
});

it.each(SIGNED)('detects a removed %s', async (name) => {
  const mime = await signed();
  const changed = mime.replace(fieldOf(name), '');
  expect(changed).not.toBe(mime);
  expect(await verify(changed)).not.toBe('pass');
});

it.each(OVER_SIGNED)('detects a second %s, above or below', async (name) => {
  const mime = await signed();
  expect(await verify(`${name}: other\r\n${mime}`)).not.toBe('pass');
  expect(await verify(mime.replace('\r\n\r\n', `\r\n${name}: other\r\n\r\n`))).not.toBe('pass');
});

it.each(['Reply-To', 'List-Unsubscribe', 'List-Unsubscribe-Post'])(
  'detects %s added to an email without it',
  async (name) => {
    const mime = await signed({ replyTo: null, headers: [] });
    expect(await verify(`${name}: other@x.test\r\n${mime}`)).not.toBe('pass');
  },
);

it.each(['Date: Tue, 03 Feb 2026 09:00:00 +0000', 'Message-ID: <0100@email.amazonses.com>'])(
  'allows a relay to replace the field: %s',
  async (field) => {
    const mime = await signed();
    const changed = mime.replace(fieldOf(field.slice(0, field.indexOf(':'))), `${field}\r\n`);
    expect(changed).not.toBe(mime);
    expect(await verify(`Return-Path: <x@y.test>\r\nReceived: from a by b\r\n${changed}`)).toBe('pass');
  },
);

it('detects a changed body, except for white space at line ends', async () => {
  const mime = await signed();
  expect(await verify(mime.replace('<p>Hello.', '<p>Hallo.'))).not.toBe('pass');
  expect(await verify(`${mime}more\r\n`)).not.toBe('pass');
  expect(await verify(`${mime.replace('<p>Hello.</p>\r\n', '<p>Hello.</p> \t\r\n')}\r\n\r\n`)).toBe('pass');
});

it('rejects a domain or selector that is not a host name', async () => {
  await expect(composeMail(EMAIL, { ...dkim, domain: 'a; l=0' })).rejects.toThrow('host names');
});
