import { once } from 'node:events';
import diagnostics from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type DnsServer, startDnsServer } from '../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../testing/servers/test-resolver.ts';
import { addressKind, checkUrl } from './check-url.ts';
import { createOutbound, type Outbound } from './outbound.ts';

/** The targets of every socket of this process, recorded by the socket itself. */
const attempts: string[] = [];
function onSocket(message: unknown): void {
  const { socket } = message as { socket: Socket };
  socket.on('connectionAttempt', (address) => attempts.push(address));
}

let dns: DnsServer;
let outbound: Outbound;
let connections = 0;
const listener = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
let port = 0;

beforeAll(async () => {
  dns = await startDnsServer();
  const resolver = testResolver(dns);
  outbound = createOutbound({ allowPrivate: false, resolver, connectMs: 2_000, totalMs: 20_000 });
  listener.listen(0, '::');
  await once(listener, 'listening');
  port = (listener.address() as AddressInfo).port;
  diagnostics.subscribe('net.client.socket', onSocket);
});

beforeEach(() => {
  attempts.length = 0;
  connections = 0;
});

afterAll(async () => {
  diagnostics.unsubscribe('net.client.socket', onSocket);
  outbound.close();
  listener.close();
  await dns.stop();
});

const get = (url: string) => outbound.get({ url, headers: {}, key: 'one' });

const HOSTILE = [
  // Loopback in all spellings.
  'https://127.0.0.1:PORT/',
  'https://127.1:PORT/',
  'https://127.0.1:PORT/',
  'https://127.255.255.254:PORT/',
  'https://2130706433:PORT/',
  'https://0x7f000001:PORT/',
  'https://0x7f.1:PORT/',
  'https://0x7f.0x0.0x0.0x1:PORT/',
  'https://017700000001:PORT/',
  'https://0177.0.0.1:PORT/',
  'https://127.0.0.1.:PORT/',
  'https://１２７.０.０.１:PORT/',
  'https://①②⑦.0.0.1:PORT/',
  'https://127。0。0。1:PORT/',
  'https://127%2e0%2e0%2e1:PORT/',
  'https://%31%32%37.0.0.1:PORT/',
  'https://0:PORT/',
  'https://0.0.0.0:PORT/',
  'https://[::]:PORT/',
  'https://[::1]:PORT/',
  'https://[0:0:0:0:0:0:0:1]:PORT/',
  'https://[::ffff:127.0.0.1]:PORT/',
  'https://[::ffff:7f00:1]:PORT/',
  'https://[::127.0.0.1]:PORT/',
  'https://[::ffff:0:127.0.0.1]:PORT/',
  'https://[64:ff9b::127.0.0.1]:PORT/',
  'https://[64:ff9b:1::7f00:1]:PORT/',
  'https://[2002:7f00:1::]:PORT/',
  'https://[2001:0:7f00:1::]:PORT/',
  'https://localhost:PORT/',
  'https://LOCALHOST:PORT/',
  'https://localhost.:PORT/',
  'https://anything.localhost:PORT/',
  'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/',
  // Surrounding networks, and cloud metadata.
  'https://10.0.0.1:PORT/',
  'https://10.1:PORT/',
  'https://172.16.0.1:PORT/',
  'https://172.31.255.255:PORT/',
  'https://192.168.1.1:PORT/',
  'https://3232235777:PORT/',
  'https://100.64.0.1:PORT/',
  'https://100.100.100.200/latest/meta-data/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/latest/meta-data/',
  'https://2852039166/latest/meta-data/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]:PORT/',
  'https://[fec0::1]:PORT/',
  'https://[fc00::1]:PORT/',
  'https://168.63.129.16/',
  'https://192.0.0.192/',
  'https://198.18.0.1:PORT/',
  'https://203.0.113.7:PORT/',
  'https://224.0.0.1:PORT/',
  'https://255.255.255.255:PORT/',
  'https://[ff02::1]:PORT/',
  'https://[2001:db8::1]:PORT/',
  'https://[5f00::1]:PORT/',
  // Names with a meaning only inside a network.
  'https://metadata.google.internal/',
  'https://printer.local:PORT/',
  'https://intranet:PORT/',
  'https://hooks.example.com.:PORT/',
  // Hosts that differ from what they look like.
  'https://hooks.example.com@127.0.0.1:PORT/',
  'https://user:secret@hooks.example.com/',
  'https://127.0.0.1:PORT\\@hooks.example.com/',
  'https://hooks.example.com\\@127.0.0.1:PORT/',
  'https:\\\\127.0.0.1:PORT/',
  'https:127.0.0.1:PORT/',
  'https:///127.0.0.1:PORT/',
  'https://127.0.0.1:PORT#@hooks.example.com/',
  'https://loca\tlhost:PORT/',
  ' https://127.0.0.1:PORT/',
  // Other schemes, other services.
  'http://127.0.0.1:PORT/',
  'http://hooks.example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:PORT/_x',
  'ftp://127.0.0.1:PORT/',
  'data:text/plain,x',
  '//127.0.0.1:PORT/',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:80/',
  'https://hooks.example.com:6379/',
  'https://hooks.example.com:65536/',
  'https://',
  '',
];

describe.each(HOSTILE)('checkUrl of %j', (text) => {
  test('is refused as written, without a connection attempt', async () => {
    const url = text.replace('PORT', String(port));
    expect(checkUrl(url, { allowPrivate: false }).ok).toBe(false);
    expect(await get(url)).toMatchObject({ ok: false, error: 'blocked' });
    expect([attempts, connections]).toEqual([[], 0]);
  });
});

/** A public address without a host, so that these tests never reach a real one. */
const UNUSED_ADDRESS = '2000::1';

const BLOCKED_ANSWERS: [string, 'A' | 'AAAA', string[]][] = [
  ['loopback', 'A', ['127.0.0.1']],
  ['loopback, v6', 'AAAA', ['::1']],
  ['mapped', 'AAAA', ['::ffff:127.0.0.1']],
  ['nat64', 'AAAA', ['64:ff9b::7f00:1']],
  ['private', 'A', ['10.0.0.7', '192.168.1.1', '172.20.0.1']],
  ['metadata', 'A', ['169.254.169.254']],
  ['unspecified', 'A', ['0.0.0.0']],
];

test.each(BLOCKED_ANSWERS)(
  'makes no connection for a name that resolves to a non-public address: %s',
  async (_, type, addresses) => {
    dns.set(type, 'inside.hook.test', addresses);
    const response = await get(`https://inside.hook.test:${port}/`);
    dns.remove(type, 'inside.hook.test');
    expect(response).toMatchObject({ ok: false, error: 'blocked' });
    expect([attempts, connections]).toEqual([[], 0]);
  },
);

test('tries only the public addresses of a mixed answer', async () => {
  dns.set('A', 'mixed.hook.test', ['127.0.0.1', '10.0.0.1']);
  dns.set('AAAA', 'mixed.hook.test', ['::1', UNUSED_ADDRESS, '::ffff:127.0.0.1']);
  const response = await get(`https://mixed.hook.test:${port}/`);
  expect(response.ok).toBe(false);
  expect(new Set(attempts)).toEqual(new Set([UNUSED_ADDRESS]));
  expect(connections).toBe(0);
});

test('does not follow a name that moves inside between two lookups', async () => {
  let lookups = 0;
  const moving = (): string[] => ((lookups += 1) === 1 ? [UNUSED_ADDRESS] : ['::1']);
  dns.set('AAAA', 'moving.hook.test', moving);
  dns.set('A', 'moving.hook.test', () => (lookups <= 1 ? [] : ['127.0.0.1']));
  await get(`https://moving.hook.test:${port}/`);
  expect(attempts).toEqual([UNUSED_ADDRESS]);
  expect(await get(`https://moving.hook.test:${port}/`)).toMatchObject({ error: 'blocked' });
  expect(lookups).toBe(2);
  expect(new Set(attempts)).toEqual(new Set([UNUSED_ADDRESS]));
  expect(connections).toBe(0);
});

test('returns the same result for a blocked address whether or not a server listens there', async () => {
  dns.set('A', 'inside.hook.test', ['127.0.0.1']);
  const open = await get(`https://inside.hook.test:${port}/`);
  const closed = await get('https://inside.hook.test:4/'.replace(':4/', ':40001/'));
  dns.remove('A', 'inside.hook.test');
  expect({ ...open, ms: 0 }).toEqual({ ...closed, ms: 0 });
  expect(JSON.stringify(open)).not.toContain('127.0.0.1');
});

describe('with a connection that goes elsewhere than was looked up', () => {
  afterEach(() => vi.restoreAllMocks());

  test('checks the peer before it writes a byte', async () => {
    let bytesReceived = 0;
    const server = createServer((socket) =>
      socket.on('data', (data) => (bytesReceived += data.length)).on('error', () => {}),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = (server.address() as AddressInfo).port;
    // oxlint-disable-next-line typescript/unbound-method
    const { connect } = Socket.prototype;
    vi.spyOn(Socket.prototype, 'connect').mockImplementation(function redirected(this: Socket, ...args) {
      const [options] = args as unknown as [{ lookup: unknown }];
      options.lookup = (_: string, __: object, callback: (error: null, to: object[]) => void) =>
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      return connect.apply(this, args);
    });
    dns.set('AAAA', 'swapped.hook.test', [UNUSED_ADDRESS]);
    const connected = once(server, 'connection');
    const response = await get(`https://swapped.hook.test:${at}/`);
    await connected;
    await new Promise((resolve) => server.close(resolve));
    expect(response).toMatchObject({ ok: false, error: 'blocked' });
    expect(attempts).toEqual(['127.0.0.1']);
    expect(bytesReceived).toBe(0);
  });
});

describe('in development', () => {
  const ca = readFileSync(new URL('../../../testing/servers/tls/names.crt', import.meta.url));
  const rules = { allowPrivate: true };

  test('allows private addresses and local names, and plain http only to them', async () => {
    for (const url of ['http://localhost/', 'http://10.0.0.1:8080/', 'https://app:8443/', 'https://[::1]/'])
      expect(checkUrl(url, rules)).toMatchObject({ ok: true });
    for (const url of [
      'http://8.8.8.8/',
      'https://169.254.169.254/',
      'https://user@localhost/',
      'ftp://localhost/',
    ])
      expect(checkUrl(url, rules).ok).toBe(false);
    const resolver = testResolver(dns);
    const inside = createOutbound({ ...rules, resolver, ca });
    dns.set('AAAA', 'public.hook.test', [UNUSED_ADDRESS]);
    dns.set('A', 'link.hook.test', ['169.254.169.254']);
    for (const url of [
      `http://public.hook.test:${port}/`,
      'https://link.hook.test/',
      'http://link.hook.test/',
    ])
      expect(await inside.get({ url, headers: {}, key: 'one' })).toMatchObject({ error: 'blocked' });
    expect(attempts).toEqual([]);
    expect(await inside.get({ url: `http://localhost:${port}/`, headers: {}, key: 'one' })).toMatchObject({
      error: 'reset',
    });
    expect(attempts).toEqual(['127.0.0.1']);
    inside.close();
  });
});

test.each([
  ['8.8.8.8', 'public'],
  ['2606:4700::1111', 'public'],
  ['127.0.0.53', 'private'],
  ['fd12::1', 'private'],
  ['fe80::1%eth0', 'closed'],
  ['::ffff:8.8.8.8', 'public'],
  ['::8.8.8.8', 'closed'],
  ['64:ff9b::808:808', 'closed'],
  ['not an address', 'closed'],
])('classifies %s as %s', (address, kind) => expect(addressKind(address)).toBe(kind));

test.each([
  'https://hooks.example.com/x?y=1',
  'https://hooks.example.com:8443/',
  'https://bücher.example/',
  'https://8.8.8.8/',
])('allows %s', (url) => expect(checkUrl(url, { allowPrivate: false })).toMatchObject({ ok: true }));
