import { once } from 'node:events';
import http, {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createBodyBudget, readBody } from '../../platform/http/body.ts';
import {
  createEdgeServer,
  createRedirectServer,
  type EdgeConfig,
  reloadCertificate,
  type TlsFiles,
} from './edge.ts';
import { faultResponse } from '../../platform/http/answers.ts';
import { clientErrorHandler, type DrainLimits, refuseBody } from '../../platform/http/refuse-request.ts';
import { transportRules } from '../../platform/http/transport.ts';
import { nameServed } from '../../../testing/servers/http-client.ts';

const MIB = 1024 * 1024;
const newId = (): string => '01890000-0000-7000-8000-000000000000';
const first = pair('first');
const second = pair('second');

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A certificate pair of `testing/servers/tls`, so that no machine needs a tool that creates certificates. */
function pair(name: string): TlsFiles {
  const file = (ending: string): string =>
    fileURLToPath(new URL(`../../../testing/servers/tls/${name}.${ending}`, import.meta.url));
  return { certFile: file('crt'), keyFile: file('key') };
}

type ServeOptions = Partial<EdgeConfig> & {
  publicUrl?: string;
  trustProxy?: string[];
  redirectOnly?: boolean;
};

/** Reads the body, then answers 200 with the request. */
const readAndRespond: RequestListener = (request, response) => {
  readBody(request, { maxBytes: 256 * 1024, budget: createBodyBudget() }, (problem) => {
    if (problem === 'aborted') return;
    if (problem) refuseBody(request, response);
    const { status, body } = problem ? faultResponse(problem) : { status: 200, body: { url: request.url } };
    response.writeHead(status).end(JSON.stringify(body));
  });
};

async function serve(options: ServeOptions = {}, listener: RequestListener = readAndRespond) {
  const {
    publicUrl = 'http://localhost',
    trustProxy = [],
    redirectOnly = false,
    tls: tlsFiles = null,
    ...rest
  } = options;
  const config = { tls: tlsFiles, ...rest };
  const deps = { rules: transportRules({ publicUrl, trustProxy }), newId };
  const server: Server | https.Server = redirectOnly
    ? createRedirectServer(config, deps, listener)
    : createEdgeServer(config, deps, listener).on('clientError', clientErrorHandler(deps));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  return { server, port: (server.address() as AddressInfo).port };
}

function open(port: number, bytes: string | Uint8Array = ''): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  closers.push(() => socket.destroy());
  socket.write(bytes);
  return socket;
}

/** The simplest client: it reads the answer only after sending everything. A reset before that destroys the unread answer. */
async function sendThenRead(port: number, bytes: Uint8Array): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  closers.push(() => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(bytes, () => resolve());
  });
  return allOf(socket);
}

/** Returns everything that the server sends until it closes its side. */
async function allOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk))).resume();
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return text;
}

/** Returns one answer of a connection that stays open. */
async function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  while (!pattern.test(text)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += String(chunk);
  }
  return text;
}

function expectEnvelope(text: string, status: number, code: string): void {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/\r\nContent-Type: application\/json/i);
  expect(head).toMatch(/\r\nX-Request-Id: 01890000-0000-7000-8000-000000000000/i);
  expect(head).toMatch(/\r\nCache-Control: no-store/i);
  expect(head).toMatch(/\r\nX-Content-Type-Options: nosniff/i);
  expect(head).not.toMatch(/access-control/i);
  expect(JSON.parse(body)).toEqual({ errors: [{ code, message: expect.any(String) as string }] });
}

const POST = 'POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

test('answers 400 in the envelope to Content-Length with Transfer-Encoding, and closes the connection', async () => {
  const { port } = await serve();
  const conflicts = [
    'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd',
    'Content-Length: -1\r\n\r\n',
    'Content-Length: 4x\r\n\r\nabcd',
    'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
  ];
  for (const conflict of conflicts) {
    expectEnvelope(await allOf(open(port, `${POST}${conflict}`)), 400, 'bad_request');
  }
});

test('answers 400 in the envelope to bytes that are not HTTP, and to HTTP/1.1 without Host', async () => {
  const { port } = await serve();
  expectEnvelope(await allOf(open(port, 'hello\r\n\r\n')), 400, 'bad_request');
  const text = await readUntil(open(port, 'GET /x HTTP/1.1\r\n\r\n'), /\}$/);
  expectEnvelope(text, 400, 'bad_request');
});

test('answers 431 in the envelope to a header flood, though the client is still sending', async () => {
  const { port } = await serve();
  const flood = Buffer.from(`${POST}X-Flood: ${'x'.repeat(16 * MIB)}`);
  expectEnvelope(await sendThenRead(port, flood), 431, 'headers_too_large');
});

test('answers 408 in the envelope to a slow body and to slow headers, and closes the connection', async () => {
  // Long enough for headers that arrive at once, on a busy machine too.
  const timeouts = { headersMs: 2_000, requestMs: 2_000, checkEveryMs: 10 };
  const problems: unknown[] = [];
  const aborted = Promise.withResolvers<void>();
  const { port } = await serve({ timeouts }, (request) => {
    readBody(request, { maxBytes: 1_000, budget: createBodyBudget() }, (problem) => {
      problems.push(problem);
      aborted.resolve();
    });
  });
  const slow = [open(port, `${POST}Content-Length: 10\r\n\r\nhalf`), open(port, POST), open(port)];
  for (const text of await Promise.all(slow.map(allOf))) expectEnvelope(text, 408, 'request_timeout');
  await aborted.promise;
  expect(problems).toEqual(['aborted']);
});

test('queues the error of broken bytes behind the answer of the request in progress', async () => {
  const received = Promise.withResolvers<ServerResponse>();
  const { port } = await serve({}, (_request, response) => received.resolve(response));
  const socket = open(port, 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
  const { server } = await serve();
  const response = await received.promise;
  socket.write('broken\r\n\r\n', () =>
    setImmediate(() => setImmediate(() => response.end('{"accepted":true}'))),
  );
  const text = await allOf(socket);
  const at = text.lastIndexOf('HTTP/1.1');
  expect(text.slice(0, at)).toContain('{"accepted":true}');
  expectEnvelope(text.slice(at), 400, 'bad_request');
  expect(server.listening).toBe(true);
});

test('lets 413 reach a client that is still sending 10 MiB, and parses none of the rest', async () => {
  const { port } = await serve();
  for (const framing of [
    `Content-Length: ${10 * MIB}\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n${(10 * MIB).toString(16)}\r\n`,
  ]) {
    const text = await sendThenRead(
      port,
      Buffer.concat([Buffer.from(`${POST}${framing}`), Buffer.alloc(10 * MIB, ' ')]),
    );
    expect(text).toMatch(/^HTTP\/1.1 413 /);
    expect(text).toMatch(/Connection: close/i);
    expect(text.match(/HTTP\/1.1/g)).toHaveLength(1);
  }
});

test('runs no request that follows a refused body on its connection', async () => {
  const seen: (string | undefined)[] = [];
  let closed: Promise<unknown> = Promise.resolve();
  const { port } = await serve({}, (request, response) => {
    seen.push(request.url);
    closed = once(request.socket, 'close');
    readAndRespond(request, response);
  });
  const socket = open(port, `${POST}Content-Length: ${MIB}\r\n\r\n`);
  socket.write(
    Buffer.concat([Buffer.alloc(MIB, ' '), Buffer.from('GET /second HTTP/1.1\r\nHost: x\r\n\r\n')]),
  );
  await allOf(socket);
  await closed;
  expect(seen).toEqual(['/api/v1/events']);
});

test('limits the drain after a refusal in bytes and in time', async () => {
  const sockets: Socket[] = [];
  const refuseWithin = (limits: DrainLimits): RequestListener => {
    return (request, response) => {
      sockets.push(request.socket);
      refuseBody(request, response, limits);
      response.writeHead(401).end('{}');
    };
  };
  const bySize = await serve({}, refuseWithin({ maxBytes: MIB, maxMs: 60_000 }));
  const flood = open(bySize.port, `${POST}Content-Length: ${1024 * MIB}\r\n\r\n`);
  flood.write(Buffer.alloc(64 * MIB));
  await new Promise((resolve) => flood.once('close', resolve));
  expect(sockets[0]?.bytesRead).toBeLessThan(8 * MIB);

  const byTime = await serve({}, refuseWithin({ maxBytes: MIB, maxMs: 30 }));
  const silent = open(byTime.port, `${POST}Content-Length: ${MIB}\r\n\r\n`);
  silent.allowHalfOpen = true;
  expect(await allOf(silent)).toMatch(/^HTTP\/1.1 401 /);
  const socket = sockets[1];
  if (socket && !socket.destroyed) await once(socket, 'close');
  expect(sockets[1]?.destroyed).toBe(true);
});

test('keeps the connection after refusing a small declared body', async () => {
  const { port } = await serve({}, (request, response) => {
    refuseBody(request, response);
    response.writeHead(429, { 'Content-Length': 2 }).end('{}');
  });
  const socket = open(port, `${POST}Content-Length: 2\r\n\r\n{}`);
  expect(await readUntil(socket, /\{\}$/)).not.toMatch(/Connection: close/i);
  socket.write(`${POST}Content-Length: 2\r\n\r\n{}`);
  expect(await readUntil(socket, /\{\}$/)).toMatch(/^HTTP\/1.1 429 /);
});

test('sends 100-continue when the body is read, and never before a refusal', async () => {
  const { port } = await serve();
  const socket = open(port, `${POST}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
  expect(await readUntil(socket, /\r\n\r\n/)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  socket.write('{}');
  expect(await readUntil(socket, /\}/)).toMatch(/^HTTP\/1.1 200 /);
  const refused = open(port, `${POST}Content-Length: ${MIB}\r\nExpect: 100-continue\r\n\r\n`);
  expect(await allOf(refused)).toMatch(/^HTTP\/1.1 413 /);
  const unauthorised = await serve({}, (request, response) => {
    refuseBody(request, response);
    setImmediate(() => response.writeHead(401).end('{}'));
  });
  const early = open(unauthorised.port, `${POST}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
  expect(await allOf(early)).toMatch(/^HTTP\/1.1 401 /);
  const odd = open(port, `${POST}Content-Length: 2\r\nExpect: tea\r\n\r\n{}`);
  expect(await readUntil(odd, /\}/)).toMatch(/^HTTP\/1.1 200 /);
});

test('accepts TLS 1.2 and 1.3 with AEAD suites, and refuses 1.0, 1.1 and CBC suites', async () => {
  const { port } = await serve({ tls: first, publicUrl: 'https://beckon.example' });
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    expect(await handshake(port, { minVersion: version, maxVersion: version })).toBe(version);
  }
  const lenient = { ciphers: 'ALL:@SECLEVEL=0' };
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    expect(await handshake(port, { ...lenient, minVersion: version, maxVersion: version })).toMatch(
      /^ERR_SSL/,
    );
  }
  const cbc = {
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    ciphers: 'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA',
  } as const;
  expect(await handshake(port, cbc)).toMatch(/^ERR_SSL/);
});

function handshake(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      resolve(socket.getProtocol() ?? '');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

test('uses a new certificate without a restart, and keeps the old one if the new one is invalid', async () => {
  const { server, port } = await serve({ tls: first });
  expect(await nameServed(port)).toBe('first');
  reloadCertificate(server as https.Server, second);
  expect(await nameServed(port)).toBe('second');
  expect(() =>
    reloadCertificate(server as https.Server, { certFile: first.certFile, keyFile: second.keyFile }),
  ).toThrow();
  expect(() =>
    reloadCertificate(server as https.Server, { certFile: 'none', keyFile: first.keyFile }),
  ).toThrow();
  expect(await nameServed(port)).toBe('second');
  expect(
    await handshake(port, { ciphers: 'ALL:@SECLEVEL=0', minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }),
  ).toMatch(/^ERR_SSL/);
});

test('serves requests, socket errors and refusals of a body over its own TLS', async () => {
  const { port } = await serve({ tls: first, publicUrl: 'https://beckon.example' });
  const speak = (): tls.TLSSocket => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('error', () => {});
    closers.push(() => socket.destroy());
    return socket;
  };
  const good = speak();
  good.write(`${POST}Content-Length: 2\r\n\r\n{}`);
  expect(await readUntil(good, /\}/)).toMatch(/^HTTP\/1.1 200 /);
  const broken = speak();
  broken.write('hello\r\n\r\n');
  const text = await allOf(broken);
  expectEnvelope(text, 400, 'bad_request');
  expect(text).toContain('Strict-Transport-Security: max-age=31536000');
  const large = speak();
  large.write(`${POST}Content-Length: ${10 * MIB}\r\n\r\n`);
  large.write(Buffer.alloc(10 * MIB, ' '));
  expect(await allOf(large)).toMatch(/^HTTP\/1.1 413 /);
});

const BEHIND_PROXY = { publicUrl: 'https://beckon.example', trustProxy: ['127.0.0.0/8'] };

test('redirects a plain request to the public origin, never to its Host, and runs none of it', async () => {
  const seen: unknown[] = [];
  const { port } = await serve(BEHIND_PROXY, (request) => void seen.push(request.url));
  const bodies = ['Content-Length: 2\r\n\r\n{}', `Content-Length: ${MIB}\r\nExpect: 100-continue\r\n\r\n`];
  for (const rest of bodies) {
    const socket = open(
      port,
      `POST /api/v1/events?a=1 HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nAuthorization: Bearer x\r\n${rest}`,
    );
    const text = await readUntil(socket, /\}$/);
    expectEnvelope(text, 308, 'https_required');
    expect(text).toContain('\r\nLocation: https://beckon.example/api/v1/events?a=1\r\n');
    expect(text).not.toContain('evil');
    expect(text).not.toMatch(/strict-transport-security/i);
  }
  expect(seen).toEqual([]);
});

test('trusts X-Forwarded-Proto from a listed proxy alone', async () => {
  const request = 'GET /x HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n';
  const respond: RequestListener = (_request, response) => response.end('{}');
  const trusted = await serve(BEHIND_PROXY, respond);
  expect(await readUntil(open(trusted.port, request), /\}/)).toMatch(/^HTTP\/1.1 200 /);
  const stranger = await serve({ ...BEHIND_PROXY, trustProxy: ['10.0.0.0/8'] }, respond);
  expectEnvelope(await readUntil(open(stranger.port, request), /\}$/), 308, 'https_required');
});

test('the redirect server answers 308 to all requests but the probes', async () => {
  const seen: unknown[] = [];
  const { port } = await serve(
    { publicUrl: 'https://beckon.example', redirectOnly: true },
    (request, response) => {
      seen.push(request.url);
      response.end('{}');
    },
  );
  for (const path of ['/livez', '/readyz?verbose', '/version']) {
    expect(await readUntil(open(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`), /\{\}/)).toMatch(
      /^HTTP\/1.1 200 /,
    );
  }
  // The header of an unlisted peer makes no request secure.
  for (const line of [
    'GET / HTTP/1.1',
    'PUT /livez/x HTTP/1.1',
    'DELETE //evil.example/livez HTTP/1.1',
    'GET http://evil.example/a HTTP/1.1',
  ]) {
    const text = await readUntil(
      open(port, `${line}\r\nHost: evil.example\r\nX-Forwarded-Proto: https\r\n\r\n`),
      /\}$/,
    );
    expectEnvelope(text, 308, 'https_required');
    expect(text).toMatch(/\r\nLocation: https:\/\/beckon\.example\//);
  }
  expectEnvelope(await allOf(open(port, 'broken\r\n\r\n')), 400, 'bad_request');
  expect(seen).toEqual(['/livez', '/readyz?verbose', '/version']);
});

test('sends no body with the redirect of a HEAD', async () => {
  const { port } = await serve({ publicUrl: 'https://beckon.example', redirectOnly: true });
  const socket = open(port, 'HEAD /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await allOf(socket)).toMatch(/^HTTP\/1.1 308 [^]*\r\n\r\n$/);
});

test('redirects nothing for an http PUBLIC_URL', async () => {
  const { port } = await serve();
  expect(await readUntil(open(port, `${POST}Content-Length: 2\r\n\r\n{}`), /\}/)).toMatch(/^HTTP\/1.1 200 /);
});

test('shows a client that sends a large body the refusal, not a broken pipe', async () => {
  for (const client of [http, https]) {
    const { port } = await serve(client === https ? { tls: first } : {});
    const errors: Error[] = [];
    for (let round = 0; round < 5; round += 1) {
      const options = { port, host: '127.0.0.1', method: 'POST', rejectUnauthorized: false, agent: false };
      const headers = { 'Content-Type': 'application/json', 'Content-Length': 10 * MIB };
      const request = client.request({ ...options, headers });
      request.on('error', (error) => errors.push(error));
      request.end(Buffer.alloc(10 * MIB, ' '));
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(413);
      response.resume();
      await once(request, 'close');
    }
    expect(errors).toEqual([]);
  }
});

test('shows the refusal to fetch too', async () => {
  const { port } = await serve();
  for (let round = 0; round < 5; round += 1) {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: new Uint8Array(10 * MIB),
    };
    const response = await fetch(`http://127.0.0.1:${port}/`, init);
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { errors: [{ code: 'payload_too_large' }] },
    ]);
  }
});
