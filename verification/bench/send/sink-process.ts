/**
 * The receiving server in a process of its own. It accepts every email and keeps none, but counts the copies of each Message-ID. `POST
 * /count` returns the counts, `POST /forget` resets them.
 */

import { createServer } from 'node:http';
import { startSink } from '../../../packages/server/testing/servers/smtp-sink.ts';

export type SinkCount = {
  smtpPort: number;
  /** The number of Message-IDs. */
  emails: number;
  /** Copies of a Message-ID beyond the first. */
  twice: number;
  bytes: number;
  /** The time between the first email and the last. */
  ms: number;
  connections: number;
};

let [firstAt, lastAt, bytes, copies] = [0, 0, 0, 0];
const sink = await startSink({
  keep: false,
  atBody({ raw }) {
    lastAt = performance.now();
    if (copies === 0) firstAt = lastAt;
    copies += 1;
    bytes += raw.length;
    return null;
  },
});

function count(): SinkCount {
  return {
    smtpPort: sink.port,
    emails: sink.copies.size,
    twice: copies - sink.copies.size,
    bytes,
    ms: lastAt - firstAt,
    connections: sink.connections(),
  };
}

function forget(): void {
  [firstAt, lastAt, bytes, copies] = [0, 0, 0, 0];
  sink.copies.clear();
}

const server = createServer((request, response) => {
  if (request.url === '/forget') forget();
  response.end(JSON.stringify(count()));
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
  void sink.close();
});
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
