import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';

/** Answers one request of a bad endpoint. */
export type BadAnswer = ((request: IncomingMessage, response: ServerResponse) => void) & {
  mode: string;
  /** The status that the client can read, or null. */
  replyStatus: number | null;
};

type Mode = { replyStatus: number | null; act(request: IncomingMessage, response: ServerResponse): void };

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
const BOMB = gzipSync(Buffer.alloc(100 * MIB));
const DRIP_EVERY_MS = 1_000;
const HINTS_EVERY_MS = 200;

const MODES: Record<string, Mode> = {
  fine: respondWith(204),
  error: respondWith(500),
  unavailable: respondWith(503, { 'Retry-After': '1' }),
  'busy-for-30-years': respondWith(429, { 'Retry-After': '1000000000' }),
  'busy-for-less-than-nothing': respondWith(429, { 'Retry-After': '-1' }),
  'busy-until-2099': respondWith(429, { 'Retry-After': 'Thu, 31 Dec 2099 23:59:59 GMT' }),
  'busy-until-never': respondWith(429, { 'Retry-After': 'when it suits you; \u00e4h' }),
  /** A client that follows the redirect gets a 200. */
  redirect: {
    replyStatus: 302,
    act: (request, response) =>
      void (request.url?.endsWith('?followed')
        ? response.writeHead(200).end('followed')
        : response.writeHead(302, { Location: `${request.url ?? '/'}?followed` }).end()),
  },
  drip: {
    replyStatus: 200,
    act: (_, response) => every(response.writeHead(200), DRIP_EVERY_MS, () => void response.write('.')),
  },
  endless: { replyStatus: 200, act: (_, response) => writeEndlessly(response.writeHead(200)) },
  'gzip-bomb': {
    replyStatus: 200,
    act: (_, response) =>
      void response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain' }).end(BOMB),
  },
  'headers-of-a-megabyte': {
    replyStatus: null,
    act: (_, response) => void response.writeHead(200, { 'X-Much': 'y'.repeat(MIB) }).end(),
  },
  'headers-without-end': {
    replyStatus: null,
    act: (_, response) => every(response, HINTS_EVERY_MS, () => response.writeProcessing()),
  },
  'continue-unasked': {
    replyStatus: 204,
    act(_, response) {
      for (let i = 0; i < 5; i += 1) response.writeContinue();
      response.writeHead(204).end();
    },
  },
  'reset-after-reading': { replyStatus: null, act: (request) => cut(request.socket) },
  'reset-within-the-answer': {
    replyStatus: 200,
    act: (request, response) =>
      void response.writeHead(200, { 'Content-Length': '1000' }).write('half', () => cut(request.socket)),
  },
  hang: { replyStatus: null, act: () => {} },
  /** Disables the endpoint permanently, and is therefore rare. */
  gone: respondWith(410),
};

/** The modes that an endpoint may have for a while. */
export const BAD_MODES = Object.keys(MODES).filter((mode) => mode !== 'fine' && mode !== 'gone');

/** These modes hold the connection until the client gives up. More of them would leave time for little else. */
const SLOW = ['drip', 'headers-without-end', 'hang'];
const QUICK = BAD_MODES.filter((mode) => !SLOW.includes(mode));
const SHARES = { gone: 0.0005, slow: 0.02, fine: 0.3 };

/** Returns the answer of this mode. Null chooses any mode at random, including good ones occasionally. The request has been read. */
export function badAnswer(mode: string | null, random: () => number): BadAnswer {
  const name = mode ?? randomMode(random);
  const handler = MODES[name];
  if (!handler) throw new Error(`there is no mode ${name}: ${Object.keys(MODES).join(', ')}`);
  const answer = (request: IncomingMessage, response: ServerResponse): void => handler.act(request, response);
  return Object.assign(answer, { mode: name, replyStatus: handler.replyStatus });
}

function randomMode(random: () => number): string {
  const share = random();
  if (share < SHARES.gone) return 'gone';
  if (share < SHARES.slow) return pick(SLOW, random);
  if (share < SHARES.slow + SHARES.fine) return 'fine';
  return pick(QUICK, random);
}

function pick(from: readonly string[], random: () => number): string {
  return from[Math.floor(random() * from.length)] ?? 'error';
}

function respondWith(replyStatus: number, headers: Record<string, string> = {}): Mode {
  return { replyStatus, act: (_, response) => void response.writeHead(replyStatus, headers).end() };
}

/** Resets the socket if possible. A socket within TLS cannot be reset. */
function cut(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Repeats until the client closes the connection. */
function every(response: ServerResponse, ms: number, act: () => void): void {
  const timer = setInterval(act, ms);
  response.on('close', () => clearInterval(timer));
}

/** Writes as fast as the client reads, until it stops. */
function writeEndlessly(response: ServerResponse): void {
  while (!response.destroyed) {
    if (response.write(CHUNK)) continue;
    response.once('drain', () => writeEndlessly(response));
    return;
  }
}
