import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
export function drainThenDestroy(socket: Socket, limits: DrainLimits = DRAIN_LIMITS): void {
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
