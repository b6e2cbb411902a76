import { once } from 'node:events';
import { connect } from 'node:net';
import { inspect } from 'node:util';
import { FAULT_MESSAGES } from '@beckon/contract';
import { expect, test } from 'vitest';
import { allOf, sendRequest, sendRawRequest } from '../../../testing/servers/http-client.ts';
import { ALL_ENDPOINTS, EVENTS } from '../../../testing/factories/endpoints.ts';
import {
  endpointServer,
  newCaller,
  type SendOptions,
  twinOf,
} from '../../../testing/servers/endpoint-server.ts';
import { testServer } from '../../../testing/servers/server.ts';
import type { Log } from '../../platform/log.ts';

const timeouts = { headersMs: 100, requestMs: 150, checkEveryMs: 20 };
const server = await endpointServer();
const slow = await endpointServer({ database: server.database, clock: server.clock, listen: { timeouts } });
const behindTls = await endpointServer({
  database: server.database,
  clock: server.clock,
  listen: { publicUrl: 'https://beckon.example' },
});
const guarded = await twinOf(server);
const lines: string[] = [];
const note = (...line: unknown[]): void => void lines.push(inspect(line, { depth: 10 }));
const log: Log = { debug: note, info: note, warn: note, error: note };
const loud = await endpointServer({ database: server.database, clock: server.clock, log });
const port = server.ports.http ?? 0;

test('has five endpoints under /api, and no others', async () => {
  const { secret } = await newCaller(server, EVENTS);
  const paths = [
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/',
    '/api/v2/events',
    '/api/v1/team',
    '/api/v1/users/u-1',
    '/api//v1/events',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      const headers = { Authorization: `Bearer ${secret}` };
      const { status, errors } = await sendRequest(server.url, { method, path, headers });
      const expected = [404, [{ code: 'not_found', message: FAULT_MESSAGES.not_found }]];
      expect([method, path, status, errors]).toEqual([method, path, ...expected]);
    }
  }
  const found = await Promise.all(ALL_ENDPOINTS.map(({ path }) => sendRequest(server.url, { path })));
  expect(found.map((response) => response.status)).toEqual([401, 401, 401, 401, 401]);
});

test('answers 404 in the envelope to a path that no router parses', async () => {
  for (const path of [
    '/api/v1/%',
    '/api/v1/%zz',
    '/api/v1/events%00',
    '/api/v1/%ff%fe',
    '/%2e%2e/api',
    `/${'x'.repeat(8_000)}`,
  ]) {
    const { status, errors } = await sendRequest(server.url, { method: 'GET', path });
    expect([path.slice(0, 30), status, errors[0]?.code]).toEqual([path.slice(0, 30), 404, 'not_found']);
  }
});

test('routes an absolute target by its path, whatever host it names', async () => {
  const status = async (method: string): Promise<number> => {
    const response = await sendRequest(server.url, {
      method,
      path: 'http://elsewhere.example/api/v1/events',
    });
    return response.status;
  };
  expect([await status('POST'), await status('PUT')]).toEqual([401, 405]);
});

test('never takes the X-Request-Id from the caller', async () => {
  const headers = { 'X-Request-Id': 'mine' };
  const response = await sendRequest(server.url, { path: '/api/v1/events', headers });
  expect(response.headers['x-request-id']).not.toBe('mine');
});

test('sends standard headers and no Access-Control header outside /api either', async () => {
  for (const path of ['/livez', '/readyz', '/version', '/nowhere', '/']) {
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const response = await fetch(server.url + path, {
        method,
        headers: { Origin: 'https://browser.example' },
      });
      await response.arrayBuffer();
      const names = [...response.headers.keys()];
      expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(names).toEqual(
        expect.arrayContaining(['x-request-id', 'cache-control', 'x-content-type-options']),
      );
    }
  }
});

test('redirects plain HTTP if the public address is https, runs none of it, and ignores its Host', async () => {
  const caller = await newCaller(server, EVENTS);
  for (const method of ['POST', 'GET', 'OPTIONS', 'PROPFIND']) {
    const headers = {
      Host: 'evil.example',
      Authorization: `Bearer ${caller.secret}`,
      'Content-Type': 'application/json',
    };
    const request = {
      method,
      path: '/api/v1/events?a=%20b',
      headers,
      body: '{"external_user_id":"u","name":"n"}',
    };
    const response = await sendRequest(behindTls.url, request);
    expect([response.status, response.errors]).toEqual([
      308,
      [{ code: 'https_required', message: FAULT_MESSAGES.https_required }],
    ]);
    expect(response.headers.location).toBe('https://beckon.example/api/v1/events?a=%20b');
  }
  expect((await caller.stored()).waiting).toBe(0);
});

test('answers in the envelope to bytes that are not HTTP, and to headers beyond 16 KiB', async () => {
  const broken = await sendRawRequest(
    port,
    'POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
  );
  expect([broken.status, broken.errors[0]?.code]).toEqual([400, 'bad_request']);
  const flood = await sendRawRequest(
    port,
    `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(20_000)}\r\n\r\n`,
  );
  expect([flood.status, flood.errors[0]?.code]).toEqual([431, 'headers_too_large']);
});

test('answers 408 to a body that does not arrive in time, and stores neither it nor its Idempotency-Key', async () => {
  const caller = await newCaller(server, EVENTS);
  const body = '{"external_user_id":"u","name":"n"}';
  const head = [
    'POST /api/v1/events HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${caller.secret}`,
    'Content-Type: application/json',
    'Idempotency-Key: k',
    `Content-Length: ${body.length}`,
  ].join('\r\n');
  const late = await sendRawRequest(slow.ports.http ?? 0, `${head}\r\n\r\n${body.slice(0, -1)}`);
  expect([late.status, late.errors[0]?.code]).toEqual([408, 'request_timeout']);
  expect(await caller.stored()).toMatchObject({ waiting: 0, keys: 0 });
  expect((await caller.send({ once: 'k', body })).headers['idempotent-replayed']).toBeUndefined();
});

test('carries many requests on one connection, refused and accepted, in their order', async () => {
  const caller = await newCaller(server, EVENTS);
  const body = '{"external_user_id":"u","name":"n"}';
  const request = (secret: string, more = ''): string =>
    `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n${more}\r\n${body}`;
  const { secret } = caller;
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(
    request(secret) + request('wrong') + request(secret) + request(secret, 'Connection: close\r\n'),
  );
  const statuses = [...(await allOf(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  expect(statuses).toEqual(['202', '401', '202', '202']);
  expect((await caller.stored()).waiting).toBe(3);
});

test('answers Expect: 100-continue before the body only with a valid key', async () => {
  const caller = await newCaller(server, EVENTS);
  const head = (secret: string) =>
    `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n` +
    'Content-Length: 35\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';
  expect((await sendRawRequest(port, head('wrong'))).status).toBe(401);
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(head(caller.secret));
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(String(first)).toMatch(/^HTTP\/1.1 100 /);
  socket.write('{"external_user_id":"u","name":"n"}');
  expect(await allOf(socket)).toMatch(/^HTTP\/1.1 202 /);
});

test('answers and stores requests in progress on stop, and accepts no new ones', async () => {
  const { clock, database } = server;
  const leaving = { ...(await testServer({ clock, database, roles: ['api'] })), clock };
  const caller = await newCaller(server, EVENTS);
  await caller.send({ at: leaving });
  const sent = Array.from({ length: 20 }, (_, i) => caller.send({ at: leaving, once: `k${i}` }));
  const responses = Promise.allSettled(sent);
  await leaving.stop();
  const accepted = (await responses).filter(
    (response) => response.status === 'fulfilled' && response.value.status === 202,
  );
  expect((await caller.stored()).waiting).toBe(1 + accepted.length);
  await expect(caller.send({ at: leaving })).rejects.toThrow(/ECONN/);
});

test('limits an address that tries key after key, and still serves a valid key from there', async () => {
  const caller = await newCaller(server, EVENTS);
  await caller.send({ at: guarded });
  const statuses = new Map<number, number>();
  for (let i = 0; i < 12; i += 1) {
    const guesses = Array.from({ length: 100 }, () =>
      caller.send({ at: guarded, secret: `sk_live_${'0'.repeat(40)}` }),
    );
    for (const { status } of await Promise.all(guesses))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([401, 429]);
  expect(statuses.get(401)).toBeGreaterThan(1_000);
  expect((await caller.send({ at: guarded })).status).toBe(202);
});

test('logs no key, no query string and no part of a body', async () => {
  const caller = await newCaller(server, EVENTS);
  const body = { external_user_id: 'hushed', name: 'hushed', properties: { hushed: 'hushed' } };
  const sendings: SendOptions[] = [
    { body, query: `?api_key=${caller.secret}` },
    { body: { ...body, name: '' }, query: '?hushed=1', once: 'hushed' },
    { body: '{"hushed":', headers: { 'User-Agent': 'hushed' } },
    { body, secret: null, query: `?api_key=${caller.secret}` },
    { body, headers: { 'Content-Type': 'text/hushed' } },
    { body, method: 'PUT', query: '?hushed=1' },
  ];
  for (const sending of sendings) await caller.send({ ...sending, at: loud });
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.filter((line) => line.includes('hushed') || line.includes(caller.secret))).toEqual([]);
});
