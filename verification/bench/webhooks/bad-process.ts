/**
 * Bad neighbors in a process of their own: `/<kind>/<name>` behaves as its kind says, and its maximum number of concurrent requests and
 * connections is recorded. `POST /count` at the other port returns the maximum over all, `POST /forget` resets it.
 */

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { badAnswer } from '../../faults/inject/receiver.ts';

export type BadCount = { port: number; posts: number; requestsMost: number; connectionsMost: number };

const FINE_MS = 50;
/** A second before the caller times out. */
const SLOW_MS = 14_000;

const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  fine: (response) => void setTimeout(() => response.writeHead(204).end(), FINE_MS),
  slow: (response) => void setTimeout(() => response.writeHead(204).end(), SLOW_MS),
  drip: (response) => bad('drip', response),
  bomb: (response) => bad(state.posts % 2 === 0 ? 'gzip-bomb' : 'endless', response),
  redirect: (response) => bad('redirect', response),
};

function bad(mode: string, response: ServerResponse): void {
  badAnswer(mode, Math.random)(response.req, response);
}

type Open = { requests: number; sockets: Set<object> };
const state = { posts: 0, requestsMost: 0, connectionsMost: 0 };
const open = new Map<string, Open>();
const TLS = join(import.meta.dirname, '../../../packages/server/testing/servers/tls');
const hooks = createSecureServer({
  cert: readFileSync(join(TLS, 'names.crt')),
  key: readFileSync(join(TLS, 'names.key')),
});
hooks.on('request', (request, response) => {
  state.posts += 1;
  watch(request, response);
  request.resume().on('end', () => {
    const kind = request.url?.split('/')[1] ?? '';
    ANSWERS[kind]?.(response);
  });
});

function watch(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  const those = open.get(path) ?? { requests: 0, sockets: new Set() };
  open.set(path, those);
  those.requests += 1;
  response.on('close', () => {
    those.requests -= 1;
  });
  if (!those.sockets.has(request.socket)) {
    those.sockets.add(request.socket);
    request.socket.on('close', () => those.sockets.delete(request.socket));
  }
  state.requestsMost = Math.max(state.requestsMost, those.requests);
  state.connectionsMost = Math.max(state.connectionsMost, those.sockets.size);
}

const server = createServer((request, response) => {
  if (request.url === '/forget') Object.assign(state, { posts: 0, requestsMost: 0, connectionsMost: 0 });
  const { port } = hooks.address() as AddressInfo;
  response.end(JSON.stringify({ port, ...state } satisfies BadCount));
});
process.once('SIGTERM', () => {
  for (const listener of [server, hooks]) {
    listener.closeAllConnections();
    listener.close();
  }
});
hooks.listen(0, '127.0.0.1', () => {
  server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
});
