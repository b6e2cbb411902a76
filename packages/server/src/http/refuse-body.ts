import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Refusing a request whose body has not been read. To close a socket with unread bytes makes the kernel send RST, and
 * a client that is still sending then often loses the answer that already lay in its buffer. So the answer goes out at
 * once, our half of the connection is closed behind it, and what still comes is thrown away unparsed, up to a bound
 * in bytes and time. A small body of declared length is simply discarded, and the connection lives on: a busy client
 * over its rate limit should not have to shake hands again for each 429.
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

/** Three times the largest body we take: beyond that it is no client of ours that is still sending. */
const DRAIN_LIMITS: DrainLimits = { maxBytes: 32 * 1024 * 1024, maxMs: 5_000 };

const DISCARD_MAX_BYTES = 64 * 1024;

/** Ends our half, then reads and forgets until the peer ends its own or a bound is met. The HTTP parser sees none of it. */
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
  // A body that nobody read has stopped the socket beneath its stream, which believes that it is reading: resume() alone
  // left TLS connections to stand until the deadline.
  socket._read(0);
}

/**
 * `Expect: 100-continue` is the client asking first. Node would say yes before anybody looked at the key; we say it when
 * the body is first read, hence never to a request that is refused before that.
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue();
  });
}
