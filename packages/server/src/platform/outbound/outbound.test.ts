import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOutbound, type Outbound, type OutboundOptions } from './outbound.ts';
import { printableText } from './exchange.ts';

const tls = (name: string) => new URL(`../../../testing/servers/tls/${name}`, import.meta.url);
const PAIR = { cert: readFileSync(tls('names.crt')), key: readFileSync(tls('names.key')) };
const OTHER = { cert: readFileSync(tls('second.crt')), key: readFileSync(tls('second.key')) };

const ends: (() => unknown)[] = [];
let outbound: Outbound;

function open(options: Partial<OutboundOptions> = {}): Outbound {
  const opened = createOutbound({ allowPrivate: true, ca: PAIR.cert, ...options });
  ends.push(() => opened.close());
  return opened;
}

beforeEach(() => {
  outbound = open();
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Returns the port, and the number of connections so far. */
async function serve(server: Server): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket.on('error', () => {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const overTls = (listener: RequestListener, options: https.ServerOptions = {}) =>
  serve(https.createServer({ ...PAIR, ...options }, listener));
const plainly = (onConnection: (socket: Socket) => void) => serve(createServer(onConnection));

const body = Buffer.from('{"id":"msg_1"}');
const postTo = (port: number, by: Outbound = outbound, key = 'endpoint') =>
  by.post({
    url: `https://localhost:${port}/hook?a=1`,
    headers: { 'content-type': 'application/json', 'X-Service-Signature': 't=1,v1=00' },
    body,
    key,
  });
const get = (port: number, by: Outbound = outbound) =>
  by.get({ url: `http://127.0.0.1:${port}/`, headers: {}, key: 'endpoint' });

test('sends a body unchanged, and returns the answer', async () => {
  const { port } = await overTls((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { 'content-length': length, 'content-type': type, host } = request.headers;
      const signature = String(request.headers['x-service-signature']);
      response.writeHead(429, { 'retry-after': '17' });
      response.end(
        `${request.method} ${request.url} ${host} ${type} ${length} ${signature} ${Buffer.concat(parts).toString()}`,
      );
    });
  });
  expect(await postTo(port)).toEqual({
    ok: true,
    file: null,
    status: 429,
    retryAfter: '17',
    body: `POST /hook?a=1 localhost:${port} application/json 14 t=1,v1=00 {"id":"msg_1"}`,
    ms: expect.any(Number),
  });
});

test('keeps and reuses connections separately for each key', async () => {
  const { port, connections } = await overTls((_, response) => response.end('ok'));
  for (let n = 0; n < 20; n += 1) expect(await postTo(port)).toMatchObject({ status: 200 });
  expect(connections()).toBe(1);
  await postTo(port, outbound, 'other');
  expect(connections()).toBe(2);
});

test('uses a fresh connection for a GET, because the name may resolve elsewhere now', async () => {
  const { port, connections } = await serve(http.createServer((_, response) => response.end('ok')));
  for (let n = 0; n < 3; n += 1) expect(await get(port)).toMatchObject({ status: 200 });
  expect(connections()).toBe(3);
});

test('resumes TLS sessions without kept connections', async () => {
  const resumed: boolean[] = [];
  const server = https.createServer(PAIR, (_, response) =>
    response.writeHead(204, { connection: 'close' }).end(),
  );
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  const { port } = await serve(server);
  for (let n = 0; n < 3; n += 1) await postTo(port);
  expect(resumed).toEqual([false, true, true]);
});

test('reports a kept connection that the peer closed, and does not reuse the others', async () => {
  const first = Promise.withResolvers<Socket>();
  let served = 0;
  const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => {
    served += 1;
    first.resolve(request.socket);
    response.end('ok');
  });
  const { port, connections } = await serve(server);
  const postPlainly = () =>
    outbound.post({ url: `http://127.0.0.1:${port}/`, headers: {}, key: 'endpoint', body });
  await postPlainly();
  // Reset as abruptly as by a load balancer, and used again before this process can notice.
  (await first.promise).resetAndDestroy();
  expect(await postPlainly()).toMatchObject({ ok: false, error: 'reset', wasReused: true });
  expect(await postPlainly()).toMatchObject({ ok: true, status: 200 });
  expect([served, connections()]).toEqual([2, 2]);
});

test.each([301, 302, 307, 308])(
  'returns a redirect (%i) as an answer, and does not follow it',
  async (status) => {
    const inside = await plainly((socket) => socket.destroy());
    const { port } = await overTls((_, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${inside.port}/` }).end('elsewhere'),
    );
    expect(await postTo(port)).toMatchObject({ ok: true, status, body: 'elsewhere' });
    expect(inside.connections()).toBe(0);
  },
);

test('ends a slow answer at the deadline, however often a byte arrives', async () => {
  const { port } = await overTls((request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'), 20);
    request.socket.once('close', () => clearInterval(drip));
  });
  const response = await postTo(port, open({ totalMs: 300 }));
  expect(response).toMatchObject({ ok: false, error: 'timeout' });
});

test('ends endless headers and an absent answer at the deadline', async () => {
  const dripping = await plainly((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 20);
    socket.once('close', () => clearInterval(drip));
  });
  const silent = await plainly(() => {});
  const early = await plainly((socket) => {
    const again = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
    socket.once('close', () => clearInterval(again));
  });
  for (const { port } of [dripping, silent, early])
    expect(await get(port, open({ totalMs: 200 }))).toMatchObject({ ok: false, error: 'timeout' });
});

test('does not decompress an answer', async () => {
  const bomb = gzipSync(Buffer.alloc(10 * 1_024 * 1_024));
  const { port } = await overTls((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  );
  const response = await postTo(port);
  expect(response).toMatchObject({ ok: true, status: 200 });
  expect(response.ok && response.body.length).toBeLessThanOrEqual(4_096);
});

test('reads 16 KiB of an answer of 100 MB, with its status and constant memory', async () => {
  const chunk = Buffer.alloc(64 * 1_024, 'a');
  let written = 0;
  const { port } = await overTls((_, response) => {
    response.writeHead(200, { 'content-length': String(100 * 1_024 * 1_024) });
    const more = (): void => {
      while (!response.destroyed && written < 100 * 1_024 * 1_024) {
        written += chunk.byteLength;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
    };
    more();
  });
  const before = process.memoryUsage().rss;
  for (let n = 0; n < 20; n += 1) {
    written = 0;
    expect(await postTo(port)).toMatchObject({ ok: true, status: 200, body: 'a'.repeat(4_096) });
  }
  expect(written).toBeLessThan(20 * 1_024 * 1_024);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_024 * 1_024);
});

test('reports a port without a listener', async () => {
  const server = createServer();
  const { port } = await serve(server);
  await new Promise((resolve) => server.close(resolve));
  expect(await get(port)).toMatchObject({
    ok: false,
    error: 'connect',
    detail: 'The connection failed (ECONNREFUSED)',
  });
});

test('reports a failed or late handshake as a TLS failure', async () => {
  const silent = await plainly(() => {});
  expect(await postTo(silent.port, open({ connectMs: 200 }))).toMatchObject({ ok: false, error: 'timeout' });
  const cut = await plainly((socket) => socket.once('data', () => socket.destroy()));
  expect(await postTo(cut.port)).toMatchObject({ ok: false, error: 'tls' });
  const plain = await plainly((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  expect(await postTo(plain.port)).toMatchObject({ ok: false, error: 'tls' });
});

test('refuses a certificate of another name or an untrusted issuer, on loopback too', async () => {
  const stranger = await overTls((_, response) => response.end(), OTHER);
  expect(await postTo(stranger.port)).toMatchObject({ ok: false, error: 'tls' });
  const { port } = await overTls((_, response) => response.end());
  const url = `https://other.localhost:${port}/`;
  expect(await outbound.get({ url, headers: {}, key: 'endpoint' })).toMatchObject({
    error: 'tls',
    detail: 'The TLS connection failed (ERR_TLS_CERT_ALTNAME_INVALID)',
  });
});

test('reports a connection that is reset, or closed within its answer, as a reset', async () => {
  const reset = await plainly((socket) => socket.once('data', () => socket.resetAndDestroy()));
  expect(await get(reset.port)).toMatchObject({ ok: false, error: 'reset' });
  const short = await plainly((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc')),
  );
  expect(await get(short.port)).toMatchObject({ ok: false, error: 'reset' });
});

test.each([
  'SSH-2.0-OpenSSH_9.2\r\n',
  'HTTP/1.1 abc\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n',
  `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
])('reports an answer that is not HTTP as a protocol failure: %#', async (output) => {
  const { port } = await plainly((socket) => socket.once('data', () => socket.write(output)));
  expect(await get(port)).toMatchObject({ ok: false, error: 'protocol' });
});

test('fails on a protocol upgrade, and keeps no connection', async () => {
  const { port } = await plainly((socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ),
  );
  expect(await get(port)).toMatchObject({ ok: false, error: 'protocol' });
});

test('reports an unknown name as a DNS failure', async () => {
  const resolver = { addresses: async () => ({ kind: 'failed', code: 'ESERVFAIL' }) as const };
  const response = await open({ allowPrivate: false, resolver }).get({
    url: 'https://unknown.hook.test/',
    headers: {},
    key: 'endpoint',
  });
  expect(response).toMatchObject({ ok: false, error: 'dns' });
});

test('bounds the connections of concurrent requests, and close ends all of them', async () => {
  const { port, connections } = await overTls(() => {});
  const requests = Array.from({ length: 400 }, () => postTo(port));
  while (connections() < 256) await new Promise((resolve) => setImmediate(resolve));
  outbound.close();
  const responses = await Promise.all(requests);
  expect(responses.every(({ ok }) => !ok)).toBe(true);
  expect(connections()).toBe(256);
});

test('printableText makes any response printable and storable', () => {
  expect(printableText(Buffer.from('a\u0000b\u001b[2Jc\r\nd\te\u202Ef'), 100)).toBe(
    'a\u{FFFD}b\u{FFFD}[2Jc\nd\te\u{FFFD}f',
  );
  expect(printableText(Buffer.from([0x61, 0xff, 0xfe, 0x80, 0x62]), 100)).toBe('a\u{FFFD}b');
  expect(Buffer.byteLength(printableText(Buffer.from('a\u0001'.repeat(2_048)), 4_096))).toBeLessThanOrEqual(
    4_096,
  );
  expect(printableText(Buffer.from('é'.repeat(10)).subarray(0, 5), 5)).toBe('éé');
});
