import type { FaultCode } from '@beckon/contract';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Fault } from '../fault.ts';
import { faultResponse } from './answers.ts';
import type { NewId } from '../ids.ts';

/**
 * Refuses a request whose body has not been read. Closing a socket with unread bytes makes the kernel send RST. A client that is still
 * sending then often loses the answer that is already in its buffer. So the answer goes out at once and our half of the connection closes
 * after it. Further bytes are discarded unparsed, up to a bound in bytes and time. A small body of declared length is simply discarded, and
 * the connection stays open. A busy client over its rate limit should not need a handshake for each 429.
 */
export function refuseBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: DrainLimits = DRAIN_LIMITS,
): void {
  const { headers } = request;
  if (request.complete || (headers['content-length'] === undefined && !headers['transfer-encoding'])) return;
  if (headers.expect === undefined && Number(headers['content-length']) <= DISCARD_MAX_BYTES) {
    request.resume();
    return;
  }
  response.shouldKeepAlive = false;
  const { socket } = request;
  // Node calls this after an answer that ends the connection; its own version destroys at once.
  socket.destroySoon = () => drainThenDestroy(socket, limits);
}

export type DrainLimits = { maxBytes: number; maxMs: number };

/** Three times the largest body that is accepted. A peer that sends more than that is not a client of ours. */
const DRAIN_LIMITS: DrainLimits = { maxBytes: 32 * 1024 * 1024, maxMs: 5_000 };

const DISCARD_MAX_BYTES = 64 * 1024;

/** Ends our half, then reads and discards until the peer ends its own or a bound is reached. The HTTP parser sees none of it. */
function drainThenDestroy(socket: Socket, limits: DrainLimits = DRAIN_LIMITS): void {
  let drainedBytes = 0;
  const deadline = setTimeout(() => socket.destroy(), limits.maxMs);
  socket.once('close', () => clearTimeout(deadline));
  // Node's own listeners would feed the parser. The first `data` listener from outside takes the socket away from it.
  socket.removeAllListeners('data').removeAllListeners('end');
  socket.once('end', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    drainedBytes += chunk.byteLength;
    if (drainedBytes > limits.maxBytes) socket.destroy();
  });
  socket.end();
  socket.resume();
  // An unread body has stopped the socket below its stream, which is still in the reading state. With resume() alone, TLS connections
  // stayed open until the deadline.
  socket._read(0);
}

/**
 * Answers `Expect: 100-continue` when the body is first read, so never for a request that is refused before that. Node would answer before
 * the key is checked.
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue();
  });
}

/**
 * Answers input that never becomes a request: bytes that are not HTTP, a header flood, a client that is too slow. Node reports it on the
 * socket and would answer without a body. This handler answers in the envelope, and closes. It writes the answer by hand, so the order
 * matters: on a connection with pipelined requests the broken bytes belong to the last of them.
 */
export function clientErrorHandler(deps: {
  newId: NewId;
}): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return function onClientError(error, socket) {
    const code = faultCodeOf(error.code);
    if (!socket.writable || code === null) socket.destroy();
    else respondInOrder(socket, rawResponse(code, deps.newId(), 'encrypted' in socket ? 'https' : 'plain'));
  };
}

export function standardHeaders(requestId: string, transport: 'https' | 'plain'): Record<string, string> {
  const headers = {
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  // RFC 6797 forbids it on plain HTTP, where any attacker could have written it.
  return transport === 'https' ? { ...headers, 'Strict-Transport-Security': 'max-age=31536000' } : headers;
}

/** Null: no answer is possible on this socket (reset, or a failed TLS handshake). */
function faultCodeOf(nodeCode: string | undefined): FaultCode | null {
  if (nodeCode === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (nodeCode === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return nodeCode?.startsWith('HPE_') ? 'bad_request' : null;
}

function rawResponse(code: FaultCode, requestId: string, transport: 'https' | 'plain'): string {
  const { status, headers, body } = faultResponse(new Fault(code));
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...standardHeaders(requestId, transport),
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}

/** Node keeps the answer in progress on the socket, in a private property that its own handler reads too. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

function respondInOrder(socket: HttpSocket, response: string): void {
  const pending = socket._httpMessage;
  if (!socket.writable) return;
  if (pending && pending.req.complete) {
    // The previous request arrived whole and is being processed. No further byte is parsed, and the error waits behind its answer.
    socket.removeAllListeners('data').pause();
    pending.once('finish', () => respondInOrder(socket, response));
  } else if (pending?.headersSent) {
    socket.destroy();
  } else {
    socket.write(response);
    drainThenDestroy(socket);
  }
}
