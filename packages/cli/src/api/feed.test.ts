import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { testShell } from '../../testkit/shell.ts';

const TOKEN = `bkp_${'a'.repeat(40)}`;
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server with one answer for each connection; the last one repeats. */
async function feedServer(...handlers: Handler[]): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  server = createServer((request, response) => {
    const handler = handlers[Math.min(requests.length, handlers.length - 1)];
    requests.push(request);
    handler?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function events(text: string, then: (response: ServerResponse) => void = () => {}): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
    then(response);
  };
}

function refused(status: number, code: string): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r1' });
    response.end(JSON.stringify({ errors: [{ code, message: `It is ${code}` }] }));
  };
}

const item = (position: string): string =>
  `id: ${position}\ndata: ${JSON.stringify({ id: position, place: position, at: '2026-01-01T00:00:00Z', type: 'event', name: position })}\n\n`;

const NO_WAIT = { wait: async () => {} };
const shell = testShell({ BECKON_TOKEN: TOKEN, BECKON_PROJECT: '1' });

test('tail › continues after the last event of a lost connection, without duplicates', async () => {
  const { url, requests } = await feedServer(
    events(item('p1') + item('p2'), (response) => response.end()),
    refused(503, 'server_error'),
    events(item('p2') + item('p3')),
  );
  const tail = shell.start(['tail', '--json', '--url', url], NO_WAIT);
  await tail.waitFor('"p3"');
  tail.interrupt();
  const { code, lines, err } = await tail.ended;
  expect(code).toBe(0);
  expect(lines.map((line) => (line as { place: string }).place)).toEqual(['p1', 'p2', 'p3']);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'p2', 'p2']);
  expect(requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect(err.match(/Connection lost/g)).toHaveLength(1);
  expect(err).toContain('Reconnected');
});

test('tail › reconnects at the start of the feed before the first event, or reports that entries may be missing', async () => {
  for (const [begin, placed, words] of [
    ['retry: 2000\nid: p0\n: place p0\n\n', 'p0', 'Reconnected'],
    ['retry: 2000\n\n: alive\n\n', undefined, 'may be missing'],
  ] as const) {
    const { url, requests } = await feedServer(
      events(begin, (response) => response.end()),
      events(item('p1')),
    );
    const tail = shell.start(['tail', '--json', '--url', url], NO_WAIT);
    await tail.waitFor('"p1"');
    tail.interrupt();
    expect((await tail.ended).err).toContain(words);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, placed]);
    server?.closeAllConnections();
    server?.close();
  }
});

test('tail › reports missed entries, and ends with 3 when the token is revoked', async () => {
  const { url } = await feedServer(
    events('event: gap\ndata: {}\n\nevent: end\ndata: {"reason":"signed_out"}\n\n'),
  );
  const { code, err } = await shell.run(['tail', '--json', '--url', url]);
  expect([code, err]).toEqual([3, expect.stringContaining('may be missing')]);
  expect(err).toContain('"code":"session_required"');
});

test('tail › ends when the feed is rejected', async () => {
  for (const [status, exit] of [
    [401, 3],
    [403, 3],
    [404, 1],
    [422, 2],
    [500, 1],
  ] as const) {
    const { url } = await feedServer(refused(status, 'some_code'));
    const ran = await shell.run(['tail', '--json', '--url', url]);
    expect([ran.code, JSON.parse(ran.err)]).toMatchObject([
      exit,
      { error: { code: 'some_code', request_id: 'r1' } },
    ]);
    server?.close();
  }
  const later = await feedServer(
    events(item('p1'), (response) => response.end()),
    refused(403, 'role_required'),
  );
  const ran = await shell.run(['tail', '--url', later.url], NO_WAIT);
  expect([ran.code, ran.err]).toEqual([3, expect.stringContaining('role_required')]);
  const many = await feedServer(events('event: end\ndata: {"reason":"too_many"}\n\n'));
  expect((await shell.run(['tail', '--url', many.url])).code).toBe(1);
});

test('dashboard client › rejects responses that are not from Beckon, and follows no redirect', async () => {
  const away = await feedServer((_request, response) => {
    response.writeHead(302, { location: 'https://elsewhere.example/' }).end();
  });
  const led = await shell.run(['drafts', 'list', '--url', away.url]);
  expect([led.code, led.err]).toEqual([1, expect.stringContaining('https://elsewhere.example/')]);
  expect(away.requests).toHaveLength(1);
  const html = await feedServer((_request, response) => response.end('<h1>Welcome</h1>'));
  const page = await shell.run(['drafts', 'list', '--url', html.url]);
  expect([page.code, page.err]).toEqual([1, expect.stringContaining('not from Beckon')]);
  const broken = await feedServer((_request, response) => response.writeHead(502).end('<h1>Bad</h1>'));
  const proxy = await shell.run(['drafts', 'list', '--url', broken.url]);
  expect([proxy.code, proxy.err]).toEqual([1, expect.stringContaining('answered 502')]);
  const endless = await feedServer((_request, response) => {
    response.write('x');
    const more = (error?: Error | null): void => {
      if (!error) response.write('x'.repeat(1024 * 1024), more);
    };
    more();
  });
  const large = await shell.run(['drafts', 'list', '--json', '--url', endless.url]);
  expect([large.code, large.err]).toEqual([1, expect.stringContaining('too_large')]);
});

test('dashboard client › encodes an id as one path segment', async () => {
  const { url, requests } = await feedServer(refused(404, 'not_found'));
  await shell.run(['explain', '../../../token?x=#/é', '--url', url]);
  expect(requests[0]?.url).toBe(
    '/api/dashboard/projects/1/users/..%2F..%2F..%2Ftoken%3Fx%3D%23%2F%C3%A9/why',
  );
  const dots = await shell.run(['explain', '..', '--url', url]);
  expect([dots.code, requests.length]).toEqual([1, 1]);
});

test('Ctrl-C › ends a command with 130 and a stream with 0, without a message', async () => {
  for (const [args, code] of [
    [['drafts', 'list'], 130],
    [['track', 'u', 'e'], 130],
    [['tail'], 0],
    [['listen'], 0],
  ] as const) {
    const arrived = Promise.withResolvers<void>();
    const { url } = await feedServer(() => arrived.resolve());
    const env = { BECKON_API_KEY: `sk_live_${'a'.repeat(40)}` };
    const going = shell.start([...args, '--url', url], { env });
    await arrived.promise;
    going.interrupt();
    expect(await going.ended).toMatchObject({ code, out: '', err: '' });
    server?.closeAllConnections();
    server?.close();
  }
});
