/**
 * The customers' server in a process of its own: `/<ms>/<name>` answers 204 after that many milliseconds. It keeps no body, but counts the
 * copies of each event for each path. It also records how old an event was when its first copy came. `POST /count` at the other port
 * returns the counts, `POST /forget` resets them.
 */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export type SinkCount = {
  port: number;
  /** The number of events at an endpoint, without copies. */
  deliveries: number;
  /** Copies of a delivery beyond the first. */
  twice: number;
  /** The time between the first delivery and the last. */
  ms: number;
  /** Milliseconds from the time in the body to the first copy, one for each delivery. */
  ages: number[];
};

const TLS = join(import.meta.dirname, '../../../packages/server/testing/servers/tls');
const seen = new Set<string>();
let [firstAt, lastAt, copies] = [0, 0, 0];
let ages: number[] = [];

const hooks = createSecureServer({
  cert: readFileSync(join(TLS, 'names.crt')),
  key: readFileSync(join(TLS, 'names.key')),
});
hooks.on('request', (request, response) => {
  const arrivedAt = Date.now();
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    count(request, Buffer.concat(parts).toString(), arrivedAt);
    const ms = Number(request.url?.split('/')[1]);
    if (ms > 0) setTimeout(() => answer(response), ms);
    else answer(response);
  });
});

function count(request: IncomingMessage, body: string, arrivedAt: number): void {
  lastAt = performance.now();
  if (copies === 0) firstAt = lastAt;
  copies += 1;
  const key = `${String(request.headers['webhook-id'])} ${request.url}`;
  if (seen.has(key)) return;
  seen.add(key);
  const at = /"timestamp":"([^"]+)"/.exec(body)?.[1];
  if (at !== undefined) ages.push(arrivedAt - Date.parse(at));
}

function answer(response: ServerResponse): void {
  response.writeHead(204).end();
}

function forget(): void {
  [firstAt, lastAt, copies] = [0, 0, 0];
  ages = [];
  seen.clear();
}

const server = createServer((request, response) => {
  if (request.url === '/forget') forget();
  const { port } = hooks.address() as AddressInfo;
  const counts: SinkCount = {
    port,
    deliveries: seen.size,
    twice: copies - seen.size,
    ms: lastAt - firstAt,
    ages,
  };
  response.end(JSON.stringify(counts));
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
