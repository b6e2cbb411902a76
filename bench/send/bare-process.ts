import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Bare, sendBare } from './bare.ts';

/** The bare loops in a process of their own, as the worker has one: `POST /` with what is to be sent, an answer when it is. */
const server = createServer((request, response) => {
  void json(request)
    .then((body) => sendBare(body as Bare))
    .then(
      () => response.end('{}'),
      (error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      },
    );
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
});
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
