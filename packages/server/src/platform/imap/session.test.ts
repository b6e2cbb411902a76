import { createServer } from 'node:net';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type ImapServer,
  type ImapServerOptions,
  startImapServer,
} from '../../../testing/servers/imap-server.ts';
import { type ImapOptions, type ImapSession, openImap } from './session.ts';

const ca = readFileSync(new URL('../../../testing/servers/tls/names.crt', import.meta.url), 'utf8');
const HELLO = 'From: ada@home.test\r\nSubject: Hello\r\n\r\nHello {5}\r\n';

async function server(options: ImapServerOptions = {}): Promise<ImapServer> {
  const imap = await startImapServer(options);
  onTestFinished(() => imap.close());
  return imap;
}

function optionsFor(imap: Pick<ImapServer, 'port' | 'username' | 'password'>): ImapOptions {
  return {
    address: { host: 'imap.acme.test', port: imap.port, encryption: 'none' },
    username: imap.username,
    password: imap.password,
    resolveHost: () => Promise.resolve('127.0.0.1'),
    ca,
    connectMs: 10_000,
    silenceMs: 10_000,
    totalMs: 20_000,
  };
}

async function open(imap: ImapServer, changed: Partial<ImapOptions> = {}): Promise<ImapSession> {
  const session = await openImap({ ...optionsFor(imap), ...changed });
  onTestFinished(() => session.close());
  return session;
}

async function failure(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => 'none',
    (error: { failure: string; message: string }) => `${error.failure}: ${error.message}`,
  );
}

describe('openImap', () => {
  test.each(['tls', 'starttls', 'none'] as const)('signs in with the encryption %s', async (encryption) => {
    const imap = await server({ encryption });
    const address = { host: 'imap.acme.test', port: imap.port, encryption };
    const session = await open(imap, { address });
    expect(await session.examine('INBOX')).toEqual({ uidValidity: imap.uidValidity, uidNext: 1 });
  });

  test('signs in with LOGIN if the server offers nothing else, with quotes in the password', async () => {
    const imap = await server();
    imap.hasPlain = false;
    await open(imap);
    expect(imap.commands).toContain(
      String.raw`b2 LOGIN "replies@acme.test" "correct horse \"battery\" staple"`,
    );
  });

  test('requires a certificate for the name of the host', async () => {
    const imap = await server({ encryption: 'tls' });
    const address = { host: 'imap.other.test', port: imap.port, encryption: 'tls' } as const;
    expect(await failure(open(imap, { address }))).toMatch(/^tls: .*ERR_TLS_CERT_ALTNAME_INVALID/);
    expect(await failure(open(imap, { address, ca: undefined }))).toMatch(/^tls: /);
    expect(imap.commands).toEqual([]);
  });

  test('does not show the password that a server repeats', async () => {
    const imap = await server();
    const secret = 'not the right one';
    const message = await failure(open(imap, { password: secret }));
    expect(message).toMatch(/^sign_in: .*AUTHENTICATIONFAILED.*\[password\]/);
    expect(message).not.toContain(secret);
    const encoded = Buffer.from(`\0${imap.username}\0${secret}`).toString('base64');
    imap.signInAnswer = `NO ${encoded}`;
    expect(await failure(open(imap, { password: secret }))).not.toContain(encoded);
  });

  test('sends no password to a server that does not encrypt', async () => {
    const imap = await server();
    const address = { host: 'imap.acme.test', port: imap.port, encryption: 'starttls' } as const;
    expect(await failure(open(imap, { address }))).toMatch(/^protocol: .*not offered/);
    expect(imap.commands.join('\n')).not.toMatch(/LOGIN|AUTH/);
  });

  test('refuses words that were sent in front of the encryption', async () => {
    const imap = await server({ encryption: 'starttls', injected: '* CAPABILITY AUTH=PLAIN\r\n' });
    const address = { host: 'imap.acme.test', port: imap.port, encryption: 'starttls' } as const;
    expect(await failure(open(imap, { address }))).toMatch(/^protocol: .*more than the answer to STARTTLS/);
  });

  test('refuses a server that counts the client as signed in', async () => {
    const imap = await server({ greeting: '* PREAUTH ready' });
    expect(await failure(open(imap))).toMatch(/^protocol: .*greeting/);
  });

  test.each([
    ['silent', '', /^timeout: /],
    ['endless', 'x'.repeat(600_000), /^protocol: .*a line has more than/],
    ['no mail server', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^protocol: .*greeting/],
  ])('gives up on a server that is %s', async (_name, sent, expected) => {
    const hostile = createServer((socket) => void socket.on('error', () => {}).write(sent));
    hostile.listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    onTestFinished(() => void hostile.close());
    const { port } = hostile.address() as AddressInfo;
    const options = { ...optionsFor({ port, username: 'a', password: 'b' }), silenceMs: 500 };
    expect(await failure(openImap(options))).toMatch(expected);
  });

  test('ends a session that takes too long, although the server keeps sending', async () => {
    const drip = createServer((socket) => {
      socket.on('error', () => {});
      const timer = setInterval(() => socket.write('* '), 20);
      socket.on('close', () => clearInterval(timer));
    });
    drip.listen(0, '127.0.0.1');
    await once(drip, 'listening');
    onTestFinished(() => void drip.close());
    const { port } = drip.address() as AddressInfo;
    const options = { ...optionsFor({ port, username: 'a', password: 'b' }), totalMs: 200 };
    expect(await failure(openImap(options))).toMatch(/^closed: /);
  });

  test('connects to no host that the guard refuses', async () => {
    const imap = await server();
    const resolveHost = () => Promise.reject(new Error('localhost has no public address'));
    expect(await failure(open(imap, { resolveHost }))).toBe('connect: localhost has no public address.');
  });
});

describe('session', () => {
  test('returns the bytes of an email, without marking it as read', async () => {
    const imap = await server();
    const uid = imap.deliver(HELLO);
    const session = await open(imap);
    await session.examine('INBOX');
    expect(await session.sizeOf(uid)).toBe(HELLO.length);
    expect((await session.fetch(uid, 10_000))?.toString()).toBe(HELLO);
    expect(imap.commands.filter((line) => /STORE|SELECT|EXPUNGE|BODY\[/.test(line))).toEqual([]);
  });

  test('finds emails by UID and by day', async () => {
    const imap = await server();
    const days = [1, 20, 30].map((day) => imap.deliver(HELLO, new Date(Date.UTC(2026, 0, day, 12))));
    const session = await open(imap);
    await session.examine('INBOX');
    expect(await session.uidsBetween(2, 1_000)).toEqual(days.slice(1));
    expect(await session.uidsBetween(9, 1_000)).toEqual([]);
    expect(await session.uidsSince(new Date(Date.UTC(2026, 0, 20, 23)))).toEqual(days.slice(1));
  });

  test('returns null for an email that no longer exists', async () => {
    const session = await open(await server());
    await session.examine('INBOX');
    expect([await session.sizeOf(7), await session.fetch(7, 1_000)]).toEqual([null, null]);
  });

  test('names a folder that does not exist', async () => {
    const session = await open(await server());
    expect(await failure(session.examine('Replies & more'))).toMatch(/^folder: .*no such folder/);
  });

  test.each([
    ['cut', /^closed: /],
    ['hang', /^timeout: /],
    ['oversized', /^protocol: .*announces 4294967295 bytes/],
    ['short', /^(?:timeout|protocol): /],
    ['unclosed', /^protocol: .*quote/],
  ] as const)('fails when the answer with an email is %s', async (fault, expected) => {
    const imap = await server();
    const uid = imap.deliver(HELLO.repeat(100));
    imap.faults.push(fault);
    // The server waits for nothing else after a fault, so a short silence is enough.
    const session = await open(imap, { silenceMs: 1_500 });
    await session.examine('INBOX');
    expect(await failure(session.fetch(uid, 100_000))).toMatch(expected);
  });

  test('does not take another email for the requested one', async () => {
    const imap = await server();
    const uid = imap.deliver(HELLO);
    imap.faults.push('other');
    const session = await open(imap);
    await session.examine('INBOX');
    expect(await session.fetch(uid, 10_000)).toBeNull();
  });

  test('fetches no more bytes than allowed', async () => {
    const imap = await server();
    const uid = imap.deliver('x'.repeat(2_000_000));
    const session = await open(imap);
    await session.examine('INBOX');
    expect(await failure(session.fetch(uid, 1_000_000))).toMatch(/^protocol: .*announces 2000000 bytes/);
  });
});
