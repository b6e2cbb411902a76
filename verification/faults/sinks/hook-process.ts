import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readWebhookSecret, verifyWebhook } from '@beckon/contract/signature';
import { badAnswer } from '../inject/receiver.ts';
import { openJournal, type World } from '../journal.ts';
import { randomOf } from '../random.ts';
import { argument, reportReady, readCommands } from './commands.ts';

/** The customers' server: each POST is on the disk before it is answered. The good endpoints answer 204, the bad ones as configured. */
const TLS = join(import.meta.dirname, '../../../packages/server/testing/servers/tls');
const HEADERS_MAX = 64 * 1024;

const dir = argument('DIR');
const journal = openJournal(dir, 'hooks');
const random = randomOf(`${argument('SEED')} hooks`);
let mode: string | null = null;
let endpoints = new Map<string, World['endpoints'][number]>();

const server = createServer({
  cert: readFileSync(join(TLS, 'names.crt')),
  key: readFileSync(join(TLS, 'names.key')),
  maxHeaderSize: HEADERS_MAX,
});
server.on('request', (request, response) => {
  response.on('error', () => {});
  buffer(request).then(
    (body) => handle(request, response, body.toString()),
    // A client that hangs up in the middle of a request has sent nothing.
    () => response.destroy(),
  );
});
server.on('clientError', (_error, socket) => socket.destroy());
server.on('tlsClientError', (_error, socket) => socket.destroy());

function handle(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { pathname, search } = new URL(request.url ?? '/', 'https://127.0.0.1');
  const endpoint = endpointOf(pathname);
  const bad = endpoint?.isGood === true ? null : badAnswer(mode, random);
  const secret = endpoint ? readWebhookSecret(endpoint.secret) : null;
  const { headers } = request;
  const verified =
    secret !== null &&
    request.method === 'POST' &&
    search === '' &&
    verifyWebhook({ headers, body, secrets: [secret], now: Date.now() }).ok;
  journal.write({
    kind: 'hook',
    at: Date.now(),
    endpoint: pathname,
    webhookId: textOf(headers['webhook-id']),
    timestamp: textOf(headers['webhook-timestamp']),
    signature: textOf(headers['x-service-signature']),
    body,
    verified,
    replyStatus: bad ? bad.replyStatus : 204,
  });
  if (bad) bad(request, response);
  else response.writeHead(204).end();
}

function endpointOf(path: string): World['endpoints'][number] | undefined {
  if (!endpoints.has(path)) {
    const world = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
    endpoints = new Map(world.endpoints.map((endpoint) => [endpoint.path, endpoint]));
  }
  return endpoints.get(path);
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

/** `mode <name>`, or `mode` alone for a random one. */
readCommands((line) => {
  const [command, name] = line.split(' ');
  if (command === 'mode') mode = name ?? null;
});
server.listen(Number(argument('PORT')), '127.0.0.1', () => reportReady({ port: argument('PORT') }));
