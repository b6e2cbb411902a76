import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Baseline, sendBaseline } from './baseline.ts';

/**
 * The baseline loops in a process of their own, as the worker has one. `POST /` with the emails to send; the response comes when they are
 * sent.
 */
const server = createServer((request, response) => {
  void json(request)
    .then((body) => sendBaseline(body as Baseline))
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
