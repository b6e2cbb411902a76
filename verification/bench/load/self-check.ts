import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { table } from '../measure.ts';
import { createHistogram, percentile, record } from './histogram.ts';
import { type LoadPlan, type LoadResult, runLoad } from './index.ts';
import { createRequests } from './request.ts';
import { createReader } from './response.ts';

/**
 * `node verification/bench/load/self-check.ts` checks that the load generator is correct, and measures how much load it can generate on this machine.
 */
const KEYS = ['a', 'b', 'c'].map((char) => `sk_live_${char.repeat(40)}`);
const EVENTS: LoadPlan['request'] = {
  method: 'POST',
  path: '/api/v1/events',
  projects: KEYS,
  idempotencyKey: true,
  body: { kind: 'event' },
};

await check('answers are read whole, however they are cut', readsAnyCut);
await check('bytes that are no answer are reported', reportsNoAnswer);
await check('every request and record has a key, a user and a number of its own', neverRepeats);
await check('a histogram is right to 1 %', countsRight);
await check('every request is counted once, whatever the server does to its connection', countsAll);
await check('a server that stalls is charged with what it kept from being sent', chargesStalls);
await speed();

async function check(position: string, how: () => void | Promise<void>): Promise<void> {
  await how();
  console.log(`ok  ${position}`);
}

function readsAnyCut(): void {
  const body = 'x'.repeat(30);
  const answers = [
    `HTTP/1.1 202 Accepted\r\nDate: now\r\nContent-Length: 30\r\n\r\n${body}`,
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many\r\ncontent-length:30\r\nCache-Control: no\r\n\r\n${body}`,
    'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n',
    `HTTP/1.1 503 Away\r\nConnection: Close\r\nCONTENT-LENGTH: 0\r\n\r\n`,
  ];
  const shared = Buffer.alloc(1_024);
  for (const [n, answer] of answers.entries()) {
    for (let first = 1; first <= answer.length; first += 1) {
      for (const second of [1, 7, answer.length]) {
        const reader = createReader();
        const got: number[] = [];
        for (let at = 0, size = first; at < answer.length; at += size, size = at < first ? first : second) {
          // Old bytes stay behind the new ones, as they do in the buffer that all sockets share.
          const length = shared.write(answer.slice(at, at + size), 'latin1');
          got.push(reader.read(shared, length));
        }
        const last = got.pop();
        assert.equal(last, [202, 429, 204, 503][n]);
        assert.ok(got.every((status) => status === 0));
        assert.equal(reader.closing, n >= 2);
      }
    }
  }
}

function reportsNoAnswer(): void {
  const bad = [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc',
    'x'.repeat(20_000),
  ];
  for (const text of bad) assert.equal(createReader().read(Buffer.from(text), text.length), -1);
}

function neverRepeats(): void {
  const spec: LoadPlan['request'] = { ...EVENTS, body: { kind: 'bulk-users', records: 3 } };
  const texts: string[] = [];
  for (const seed of [1, 2]) {
    const requests = createRequests(spec, { host: 'h', seed });
    const slots = [requests.slot(), requests.slot(), requests.slot()];
    for (let i = 0; i < 1_000; i += 1) for (const slot of slots) texts.push(slot.next().toString());
  }
  for (const text of texts) {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    assert.ok(head.includes(`Content-Length: ${body.length}`));
    const { users } = JSON.parse(body) as { users: { external_user_id: string; email: string }[] };
    assert.equal(users.length, 3);
    for (const user of users) assert.ok(user.email.startsWith(`${user.external_user_id}@`));
  }
  const all = (pattern: RegExp): string[] => texts.flatMap((text) => text.match(pattern) ?? []);
  const uuids = all(
    /(?<=Idempotency-Key: )[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}(?=\r)/,
  );
  assert.equal(new Set(uuids).size, 6_000);
  assert.equal(new Set(all(/(?<="external_user_id":")[^"]+/g)).size, 18_000);
  for (const key of KEYS)
    assert.equal(texts.filter((text) => text.includes(`Bearer ${key}\r`)).length, 2_000);
}

function countsRight(): void {
  const histogram = createHistogram();
  for (let ms = 1; ms <= 100_000; ms += 1) record(histogram, ms / 10);
  for (const share of [0.01, 0.5, 0.99, 0.999])
    assert.ok(Math.abs(percentile(histogram, share) / (share * 10_000) - 1) < 0.01);
  assert.equal(percentile(histogram, 1), 10_000);
}

/** One response in a hundred closes its connection. One request in a hundred is reset, and one gets a 503. */
async function countsAll(): Promise<void> {
  const seen = { requests: 0, accepted: 0, away: 0, reset: 0 };
  const answer = (status: string, more = ''): string =>
    `HTTP/1.1 ${status}\r\n${more}Content-Length: 2\r\n\r\n{}`;
  const server = await listen((socket) => {
    const position = (seen.requests += 1) % 100;
    if (position === 1) {
      seen.reset += 1;
      socket.destroy();
    } else if (position === 2) {
      seen.accepted += 1;
      socket.end(answer('202 Accepted', 'Connection: close\r\n'));
    } else if (position === 3) {
      seen.away += 1;
      socket.write(answer('503 Away'));
    } else {
      seen.accepted += 1;
      const text = answer('202 Accepted');
      socket.write(text.slice(0, position));
      setImmediate(() => socket.write(text.slice(position)));
    }
  });
  for (const mode of [
    { kind: 'closed', connections: 10 },
    { kind: 'open', perSecond: 2_000, connections: 10 },
  ] as const) {
    Object.assign(seen, { requests: 0, accepted: 0, away: 0, reset: 0 });
    const result = await runLoad({ ...at(server), request: EVENTS, mode, seconds: 1, warmupSeconds: 0.2 });
    assert.ok(seen.requests > 1_000);
    assert.equal(result.inAll.sent, seen.requests);
    assert.deepEqual(result.inAll.statuses, { 202: seen.accepted, 503: seen.away });
    assert.deepEqual(result.lost, { refused: 0, reset: seen.reset, timeout: 0, unreadable: 0 });
    assert.equal(result.unsent, 0);
  }
  server.close();
}

async function chargesStalls(): Promise<void> {
  const responder = await startResponder();
  const stallMs = 600;
  const run = (mode: LoadPlan['mode']): Promise<LoadResult> => {
    setTimeout(() => responder.pause(stallMs), 1_000);
    return runLoad({ ...responder.at, request: EVENTS, mode, seconds: 2 });
  };
  const open = await run({ kind: 'open', perSecond: 1_000, connections: 16 });
  const closed = await run({ kind: 'closed', connections: 16 });
  responder.stop();
  assert.equal(open.requests + open.unsent, 2_000);
  // 30 % of the arrivals fell into the stall, and half of these waited for more than half of it.
  assert.ok(open.latencyMs.p90 > stallMs / 3, `p90 ${open.latencyMs.p90}`);
  assert.ok(closed.latencyMs.p99 < stallMs / 3, 'the closed loop hides it: that is why there is an open one');
}

async function speed(): Promise<void> {
  const responder = await startResponder();
  const rows: string[][] = [];
  const modes: LoadPlan['mode'][] = [
    ...[1, 16, 64, 256].map((connections) => ({ kind: 'closed', connections }) as const),
    ...[1_000, 20_000, 60_000].map((perSecond) => ({ kind: 'open', perSecond, connections: 128 }) as const),
  ];
  for (const mode of modes) {
    const result = await runLoad({
      ...responder.at,
      request: EVENTS,
      mode,
      seconds: 3,
      warmupSeconds: 1,
    });
    rows.push([
      mode.kind === 'closed' ? `closed, ${mode.connections} connections` : `open, ${mode.perSecond}/s`,
      Math.round(result.perSecond).toLocaleString('en'),
      Math.round(result.requests / result.cpuSeconds).toLocaleString('en'),
      result.latencyMs.p50.toFixed(2),
      result.latencyMs.p99.toFixed(2),
      result.latenessMs?.p99.toFixed(2) ?? '',
      String(result.errors),
    ]);
  }
  responder.stop();
  console.log(table(['loop', 'requests/s', 'per CPU s', 'p50 ms', 'p99 ms', 'late p99', 'errors'], rows));
}

async function listen(onRequest: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => onRequest(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function at(server: Server): { host: string; port: number } {
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return { host: '127.0.0.1', port: address.port };
}

type Responder = { at: { host: string; port: number }; pause(ms: number): void; stop(): void };

/** Starts the responder in a process of its own, because it needs a core for itself. */
async function startResponder(): Promise<Responder> {
  const child = fork(join(import.meta.dirname, 'responder.ts'));
  const port = await new Promise<number>((resolve) => {
    child.once('message', (message: { port: number }) => resolve(message.port));
  });
  return {
    at: { host: '127.0.0.1', port },
    pause: (ms) => child.send(ms),
    stop: () => child.disconnect(),
  };
}
