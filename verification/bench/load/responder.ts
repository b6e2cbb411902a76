import { createServer, type Socket } from 'node:net';

/**
 * The counterpart that measures the load generator: it answers as fast as a process can and reads only where a request ends. It expects a
 * request in one piece, so it does not support bodies beyond a socket buffer.
 */
const body = '{"data":{"accepted":true}}';
const answer = Buffer.from(
  'HTTP/1.1 202 Accepted\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n' +
    'X-Content-Type-Options: nosniff\r\nX-Request-Id: 0199aaaa-0000-7000-8000-000000000000\r\n' +
    `Content-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`,
);
const sockets = new Set<Socket>();

const server = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket);
  socket.on('data', () => socket.write(answer));
  socket.on('error', () => {});
  socket.on('close', () => sockets.delete(socket));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') process.send?.({ port: address.port });
});
/** Stops answering for a while, as a server does in a long garbage collection. */
process.on('message', (pauseMs: number) => {
  const until = performance.now() + pauseMs;
  while (performance.now() < until);
});
process.on('disconnect', () => process.exit());
