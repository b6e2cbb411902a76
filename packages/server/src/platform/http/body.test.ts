import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Transform } from 'node:stream';
import { brotliCompressSync, constants, createBrotliCompress, gzipSync, zstdCompressSync } from 'node:zlib';
import type { BrotliOptions, ZlibOptions, ZstdOptions } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type BodyBudget,
  type BodyProblem,
  createBodyBudget,
  createBodyShares,
  holdOf,
  readBody,
} from './body.ts';
import { faultResponse } from './answers.ts';
import { refuseBody } from './refuse-request.ts';

/** All decompressors that were created, so that a test can check that they stopped. */
const decoders: Transform[] = [];
vi.mock('node:zlib', async (original) => {
  const zlib = await original<typeof import('node:zlib')>();
  const kept = <D extends Transform>(decoder: D): D => {
    decoders.push(decoder);
    return decoder;
  };
  return {
    ...zlib,
    createGunzip: (options: ZlibOptions) => kept(zlib.createGunzip(options)),
    createBrotliDecompress: (options: BrotliOptions) => kept(zlib.createBrotliDecompress(options)),
    createZstdDecompress: (options: ZstdOptions) => kept(zlib.createZstdDecompress(options)),
  };
});

const MIB = 1024 * 1024;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

type Outcome = { problem: BodyProblem | null; bytes: Buffer; request: IncomingMessage };

/** A server that answers `ok` or the fault. `outcomes` yields the results of readBody, in order; nothing is released automatically. */
async function serve({ maxBytes = 256 * 1024, budget = createBodyBudget() } = {}) {
  const queue: Outcome[] = [];
  let wake = () => {};
  const server = http.createServer((request, response) => {
    readBody(request, { maxBytes, budget }, (problem, bytes) => {
      queue.push({ problem, bytes, request });
      wake();
      if (problem === 'aborted') return;
      const { status, body } = problem ? faultResponse(problem) : { status: 200, body: 'ok' };
      if (problem) refuseBody(request, response);
      response.writeHead(status).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  async function outcome(): Promise<Outcome> {
    while (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return queue.shift() as Outcome;
  }
  function open(): Socket {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    closers.push(() => socket.destroy());
    return socket;
  }
  async function post(
    body: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Outcome & { status: number; text: string }> {
    const request = http.request({
      port,
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { ...(await outcome()), status: response.statusCode ?? 0, text };
  }
  return { post, open, outcome, budget };
}

function codeOf({ problem }: { problem: BodyProblem | null }): string | null {
  return problem instanceof Error ? problem.code : problem;
}

const CODED = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;

test('returns the bytes of a body as sent, with Content-Length or in chunks', async () => {
  const { post, open, outcome } = await serve({ maxBytes: 4 * MIB });
  expect((await post('{"a":1}')).bytes.toString()).toBe('{"a":1}');
  const large = Buffer.alloc(3 * MIB, 'é');
  expect((await post(large)).bytes.equals(large)).toBe(true);
  open().write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
  );
  expect((await outcome()).bytes.toString()).toBe('{"a":1}');
});

test('accepts only application/json in UTF-8, in any case and with quotes', async () => {
  const { post } = await serve();
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; charset=Utf-8 ',
  ]) {
    expect([type, codeOf(await post('{}', { 'Content-Type': type }))]).toEqual([type, null]);
  }
  for (const type of [
    '',
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset="utf-8',
    'application/json; charset=utf8',
    'application/jsonp',
    'application/vnd.api+json',
    'application/json; a=b',
    'application/json, text/plain',
  ]) {
    const response = await post('{}', { 'Content-Type': type });
    expect([type, codeOf(response), response.status]).toEqual([type, 'unsupported_media_type', 415]);
  }
});

test('returns 415 for a body without Content-Type, and an empty body for none', async () => {
  const { open, outcome } = await serve();
  open().write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
  expect(codeOf(await outcome())).toBe('unsupported_media_type');
  for (const head of [
    '',
    'Content-Length: 0\r\n',
    'Content-Type: application/json\r\nContent-Length: 0\r\n',
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n',
  ]) {
    open().write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n0\r\n\r\n`);
    expect((await outcome()).problem).toMatchObject({
      code: 'validation_failed',
      details: [{ message: 'The body is empty', field: 'body' }],
    });
  }
});

test('reports invalid UTF-8, and accepts valid text whose character is cut by a chunk border', async () => {
  const { post, open, outcome } = await serve();
  for (const bytes of [[0x22, 0xff, 0x22], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    expect((await post(Buffer.from(bytes))).problem).toMatchObject({
      code: 'validation_failed',
      details: [{ message: 'The body is not valid UTF-8', field: 'body' }],
    });
  }
  const socket = open();
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  socket.write(
    Buffer.concat([
      Buffer.from('1\r\n'),
      Buffer.from([0xc3]),
      Buffer.from('\r\n1\r\n'),
      Buffer.from([0xa9]),
      Buffer.from('\r\n0\r\n\r\n'),
    ]),
  );
  expect((await outcome()).bytes.toString()).toBe('é');
});

test('reads gzip, x-gzip, br and zstd in any case, and takes identity as no coding', async () => {
  const { post } = await serve();
  for (const [name, compress] of CODED) {
    const response = await post(compress('{"a":1}'), { 'Content-Encoding': name.toUpperCase() });
    expect([name, response.problem, response.bytes.toString()]).toEqual([name, null, '{"a":1}']);
  }
  expect((await post('{}', { 'Content-Encoding': 'identity' })).problem).toBeNull();
});

test('returns 415 for an unknown coding and for more than one', async () => {
  const { post } = await serve();
  const twice = gzipSync(gzipSync('{}'));
  for (const coding of [
    'gzip, gzip',
    'gzip,br',
    'identity, gzip',
    'deflate',
    'compress',
    'gzip;q=1',
    '*',
    'dcb',
  ]) {
    expect([coding, codeOf(await post(twice, { 'Content-Encoding': coding }))]).toEqual([
      coding,
      'unsupported_media_type',
    ]);
  }
});

test('rejects compressed data that is corrupt, truncated or followed by more, and keeps nothing charged', async () => {
  const { post, budget } = await serve({ budget: createBodyBudget(MIB) });
  for (const [name, compress] of CODED) {
    const good = compress(JSON.stringify(Array.from({ length: 2_000 }, (_, at) => at * 7919)));
    const broken = Buffer.from(good).fill(0x55, 20, 60);
    for (const bytes of [
      broken,
      good.subarray(0, -9),
      good.subarray(0, 3),
      Buffer.concat([good, Buffer.from('junk')]),
      Buffer.concat([good, Buffer.alloc(8)]),
      Buffer.from('{"a":1}'),
    ]) {
      const { problem } = await post(bytes, { 'Content-Encoding': name });
      expect([name, problem]).toMatchObject([
        name,
        { code: 'validation_failed', details: [{ field: 'body' }] },
      ]);
    }
    expect((await post(compress(''), { 'Content-Encoding': name })).problem).toMatchObject({
      details: [{ message: 'The body is empty' }],
    });
  }
  expect(budget.freeBytes()).toBe(MIB);
});

test('applies the limit exactly, to the decompressed bytes', async () => {
  const maxBytes = 100_000;
  const { post } = await serve({ maxBytes });
  for (const [name, compress] of [['identity', (text: Buffer) => text], ...CODED] as const) {
    expect([
      name,
      codeOf(await post(compress(Buffer.alloc(maxBytes, ' ')), { 'Content-Encoding': name })),
    ]).toEqual([name, null]);
    expect([
      name,
      codeOf(await post(compress(Buffer.alloc(maxBytes + 1, ' ')), { 'Content-Encoding': name })),
    ]).toEqual([name, 'payload_too_large']);
  }
  const chunked = { 'Transfer-Encoding': 'chunked' };
  expect(codeOf(await post(Buffer.alloc(maxBytes, ' '), chunked))).toBeNull();
  expect(codeOf(await post(Buffer.alloc(maxBytes + 1, ' '), chunked))).toBe('payload_too_large');
});

test('rejects a declared length over the limit before any byte has arrived', async () => {
  const { open, outcome } = await serve();
  open().write(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${256 * 1024 + 1}\r\n\r\n`,
  );
  expect(codeOf(await outcome())).toBe('payload_too_large');
});

/** One GiB of zeros, in the few bytes that each format needs. Members of gzip and zstd may simply follow one another. */
async function bombs(): Promise<[string, Buffer][]> {
  const zeros = Buffer.alloc(16 * MIB);
  const brotli = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const parts: Buffer[] = [];
  brotli.on('data', (part: Buffer) => parts.push(part));
  for (let count = 0; count < 64; count += 1) if (!brotli.write(zeros)) await once(brotli, 'drain');
  brotli.end();
  await once(brotli, 'end');
  const repeated = (part: Buffer): Buffer => Buffer.concat(Array.from({ length: 64 }, () => part));
  return [
    ['gzip', repeated(gzipSync(zeros))],
    ['zstd', repeated(zstdCompressSync(zeros))],
    ['br', Buffer.concat(parts)],
  ];
}

test('stops a bomb at the limit: never holds more than that, and leaves most of it compressed', async () => {
  const limit = 2 * MIB;
  let peak = 0;
  const inner = createBodyBudget();
  const budget: BodyBudget = {
    ...inner,
    take: (bytes) => {
      const isTaken = inner.take(bytes);
      peak = Math.max(peak, 256 * MIB - inner.freeBytes());
      return isTaken;
    },
  };
  const { post } = await serve({ maxBytes: limit, budget });
  for (const [name, bomb] of await bombs()) {
    const externalBefore = process.memoryUsage().arrayBuffers;
    const cpuBefore = process.cpuUsage();
    const response = await post(bomb, { 'Content-Encoding': name });
    const cpu = process.cpuUsage(cpuBefore);
    expect([name, codeOf(response), response.status]).toEqual([name, 'payload_too_large', 413]);
    expect(process.memoryUsage().arrayBuffers - externalBefore).toBeLessThan(limit + 8 * MIB);
    expect([name, decoders.at(-1)?.destroyed]).toEqual([name, true]);
    // Inflating all of it takes more than 300 ms; two MiB take a few.
    expect((cpu.user + cpu.system) / 1_000).toBeLessThan(200);
  }
  expect(peak).toBeLessThanOrEqual(limit);
  expect(inner.freeBytes()).toBe(256 * MIB);
});

test('rejects a zstd frame with a window above 8 MiB without allocating it', async () => {
  const { post } = await serve();
  const wide = zstdCompressSync(Buffer.alloc(32 * MIB), { params: { [constants.ZSTD_c_windowLog]: 27 } });
  expect(codeOf(await post(wide, { 'Content-Encoding': 'zstd' }))).toBe('validation_failed');
});

test('stops reading compressed bytes that inflate to nothing', async () => {
  const { post } = await serve({ maxBytes: 10_000 });
  const empty = gzipSync('');
  const many = Buffer.concat(Array.from({ length: 5_000 }, () => empty));
  expect(codeOf(await post(many, { 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }))).toBe(
    'payload_too_large',
  );
});

test('reports an aborted request once, and releases its bytes', async () => {
  const { open, outcome, budget } = await serve({ budget: createBodyBudget(MIB) });
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n';
  for (const [coding, body] of [
    ['identity', 'half'],
    ...CODED.map(([name, compress]) => [name, compress('{"a":1}').subarray(0, 9)] as const),
  ] as const) {
    const socket = open();
    socket.write(`${head}Content-Encoding: ${coding}\r\n\r\n`);
    socket.write(body, () => socket.resetAndDestroy());
    expect([coding, (await outcome()).problem]).toEqual([coding, 'aborted']);
  }
  expect(budget.freeBytes()).toBe(MIB);
});

test('reports a client that left before its body was read', async () => {
  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\nhalf',
  );
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  socket.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  const problem = await new Promise((resolve) =>
    readBody(request, { maxBytes: 1_000, budget: createBodyBudget() }, resolve),
  );
  expect(problem).toBe('aborted');
});

test('counts bodies in flight to the byte, and frees them on release', async () => {
  const { post, budget } = await serve({ budget: createBodyBudget(1_000) });
  const first = await post(Buffer.alloc(600, ' '));
  const packed = await post(gzipSync(Buffer.alloc(390, ' ')), { 'Content-Encoding': 'gzip' });
  expect([first.problem, packed.problem, budget.freeBytes()]).toEqual([null, null, 10]);
  const refused = await post(Buffer.alloc(11, ' '));
  expect([codeOf(refused), refused.status, refused.problem]).toMatchObject([
    'server_error',
    503,
    { retryAfterS: 1 },
  ]);
  expect(codeOf(await post(Buffer.alloc(11, ' '), { 'Transfer-Encoding': 'chunked' }))).toBe('server_error');
  expect(codeOf(await post(gzipSync(Buffer.alloc(11, ' ')), { 'Content-Encoding': 'gzip' }))).toBe(
    'server_error',
  );
  expect(budget.freeBytes()).toBe(10);
  budget.release(first.bytes.byteLength);
  budget.release(packed.bytes.byteLength);
  expect(budget.freeBytes()).toBe(1_000);
});

test('rejects a body that does not fit beside those in flight before any byte has arrived', async () => {
  const { post, open, outcome } = await serve({ budget: createBodyBudget(1_000) });
  await post(Buffer.alloc(600, ' '));
  open().write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 401\r\n\r\n');
  expect(codeOf(await outcome())).toBe('server_error');
});

test('charges nothing for a client that declares much and sends nothing', async () => {
  const { post, open, budget } = await serve({ budget: createBodyBudget(1_000) });
  open().write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
  );
  expect((await post(Buffer.alloc(1_000, ' '))).problem).toBeNull();
  expect(budget.freeBytes()).toBe(0);
});

test('lets one project hold at most as much as it leaves free, and frees what it releases', () => {
  const all = createBodyBudget(1_000);
  const shareOf = createBodyShares(all);
  const [first, second] = [shareOf(1), shareOf(2)];
  expect([first.take(501), first.take(300), shareOf(1).take(200), first.take(1)]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([second.freeBytes(), second.take(251), second.take(250)]).toEqual([250, false, true]);
  first.release(500);
  second.release(250);
  expect([first.freeBytes(), all.freeBytes()]).toEqual([500, 1_000]);
});

describe('holdOf', () => {
  test('charges the bytes that a request holds, more and less, and releases all of them once', () => {
    const budget = createBodyBudget(100);
    const hold = holdOf(budget);
    expect(budget.take(10)).toBe(true);
    hold.adopt(10);
    expect([hold.change(90), budget.freeBytes()]).toEqual([true, 10]);
    expect([hold.change(101), budget.freeBytes()]).toEqual([false, 10]);
    expect([hold.change(20), budget.freeBytes()]).toEqual([true, 80]);
    hold.release();
    hold.release();
    expect(budget.freeBytes()).toBe(100);
  });
});
