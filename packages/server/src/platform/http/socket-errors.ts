import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FaultCode } from '@beckon/contract';
import { Fault } from '../fault.ts';
import type { NewId } from '../ids.ts';
import { answerFault } from './faults.ts';
import { drainThenDestroy } from './refuse-body.ts';

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
    else answerInTurn(socket, rawAnswer(code, deps.newId(), 'encrypted' in socket ? 'https' : 'plain'));
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

function rawAnswer(code: FaultCode, requestId: string, transport: 'https' | 'plain'): string {
  const { status, headers, body } = answerFault(new Fault(code));
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

function answerInTurn(socket: HttpSocket, answer: string): void {
  const pending = socket._httpMessage;
  if (!socket.writable) return;
  if (pending && pending.req.complete) {
    // The previous request arrived whole and is being processed. No further byte is parsed, and the error waits behind its answer.
    socket.removeAllListeners('data').pause();
    pending.once('finish', () => answerInTurn(socket, answer));
  } else if (pending?.headersSent) {
    socket.destroy();
  } else {
    socket.write(answer);
    drainThenDestroy(socket);
  }
}
