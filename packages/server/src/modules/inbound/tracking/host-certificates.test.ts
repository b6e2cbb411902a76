import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import http, { type RequestListener } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEdgeServer, type EdgeConfig } from '../../../main/http/edge.ts';
import { transportRules } from '../../../platform/http/transport.ts';

const file = (name: string): string =>
  fileURLToPath(new URL(`../../../../testing/servers/tls/${name}`, import.meta.url));
const certificate = { certFile: file('first.crt'), keyFile: file('first.key') };

let dir = '';
let warned: string[] = [];
const ends: (() => unknown)[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'beckon-certificates-'));
  warned = [];
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(dir, { recursive: true });
});

async function serve(config: Partial<EdgeConfig>, publicUrl = 'https://beckon.test'): Promise<number> {
  const listener: RequestListener = (request, response) => response.end(`served ${request.url}`);
  const deps = {
    rules: transportRules({ publicUrl, trustProxy: [] }),
    newId: () => '01890000-0000-7000-8000-000000000000',
    log: { warn: (_: object, event: string) => void warned.push(event) },
  };
  const server = createEdgeServer({ tls: certificate, ...config }, deps, listener) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

/** Returns whose certificate a client that requests this name gets. */
async function certificateFor(port: number, servername: string): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

/** Writes a pair as a renewal does, later than the one before, however coarse the times of the file system are. */
let written = 0;
function put(host: string, pair: string, key = pair): void {
  written += 1;
  copyFileSync(file(`${pair}.crt`), join(dir, `${host}.crt`));
  copyFileSync(file(`${key}.key`), join(dir, `${host}.key`));
  for (const ending of ['crt', 'key']) utimesSync(join(dir, `${host}.${ending}`), written, written);
}

test('serves each host its certificate, and all other names that of the installation', async () => {
  put('t.acme.test', 'names');
  const port = await serve({ tlsCertDir: dir });
  expect(await certificateFor(port, 't.acme.test')).toBe('names');
  expect(await certificateFor(port, 'T.ACME.test')).toBe('names');
  expect(await certificateFor(port, 'u.acme.test')).toBe('first');
  expect(await certificateFor(port, '')).toBe('first');
});

test('serves a certificate added later at once, and so a replaced one', async () => {
  const port = await serve({ tlsCertDir: dir });
  expect(await certificateFor(port, 't.acme.test')).toBe('first');
  put('t.acme.test', 'names');
  expect(await certificateFor(port, 't.acme.test')).toBe('names');
  put('t.acme.test', 'second');
  expect(await certificateFor(port, 't.acme.test')).toBe('second');
  rmSync(join(dir, 't.acme.test.key'));
  expect(await certificateFor(port, 't.acme.test')).toBe('first');
});

test('keeps the previous pair if the new one does not match, and reports that once', async () => {
  put('t.acme.test', 'names');
  const port = await serve({ tlsCertDir: dir });
  await certificateFor(port, 't.acme.test');
  put('t.acme.test', 'second', 'first');
  expect(await certificateFor(port, 't.acme.test')).toBe('names');
  expect(await certificateFor(port, 't.acme.test')).toBe('names');
  expect(warned).toEqual(['certificate.not_usable']);
  put('t.acme.test', 'second');
  expect(await certificateFor(port, 't.acme.test')).toBe('second');
  put('new.acme.test', 'second', 'first');
  expect(await certificateFor(port, 'new.acme.test')).toBe('first');
});

test('reads no file outside the directory, whatever the name', async () => {
  const inner = join(dir, 'inner');
  copyFileSync(file('names.crt'), join(dir, 'x.crt'));
  copyFileSync(file('names.key'), join(dir, 'x.key'));
  writeFileSync(join(dir, '..crt'), '');
  const port = await serve({ tlsCertDir: inner });
  for (const name of ['../x', '..', 'a/../../x', '/etc/passwd', 'x', `${'a.'.repeat(120)}test`, 'a%2f..test'])
    expect(await certificateFor(port, name), name).toBe('first');
  expect(warned).toEqual([]);
});

async function statusOf(port: number, path: string, host: string): Promise<number> {
  const request = http.get({ port, host: '127.0.0.1', path, headers: { host } });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

test('serves only the links of emails on the host of a domain', async () => {
  const hosts = new Set(['t.acme.test', 'localhost']);
  const port = await serve({ tls: null, trackingHosts: hosts }, 'http://localhost');
  const ours = ['/o/x.gif', '/c/x/1', '/u/x', '/u/x/confirm?a=b', '/.well-known/beckon/x'];
  const others = [
    '/',
    '/api/v1/events',
    '/docs',
    '/livez',
    '/o',
    '/O/x',
    '//o/x',
    '/.well-known/other',
    '/cx',
  ];
  for (const host of ['t.acme.test', 'T.Acme.test:8080', 't.acme.test.']) {
    for (const path of ours) expect(await statusOf(port, path, host), `${host}${path}`).toBe(200);
    for (const path of others) expect(await statusOf(port, path, host), `${host}${path}`).toBe(404);
  }
  // The installation's own name is never one of them, whatever the table contains.
  for (const host of ['localhost', '127.0.0.1', 'u.acme.test'])
    for (const path of [...ours, ...others])
      expect(await statusOf(port, path, host), `${host}${path}`).toBe(200);
});
