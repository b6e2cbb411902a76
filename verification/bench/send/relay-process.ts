/**
 * The API of a provider in a process of its own. It accepts every email after 50 ms, and counts the copies of each token. `POST /count`
 * returns the counts, `POST /forget` resets them.
 */

import { createServer } from 'node:http';
import { startFakeRelay } from '../../../packages/server/testing/servers/relays/fake-relay.ts';
import { KIND, LATENCY_MS } from './sizes.ts';

export type RelayCount = {
  settings: Record<string, string>;
  /** Distinct emails, and copies of an email beyond the first. */
  emails: number;
  twice: number;
  /** The time between the first email and the last. */
  ms: number;
};

const fake = await startFakeRelay(KIND);
fake.latencyMs = LATENCY_MS;
let tokens = new Set<string>();
let [copies, firstAt, lastAt] = [0, 0, 0];
fake.decide = ({ token }) => {
  lastAt = performance.now();
  if (copies === 0) firstAt = lastAt;
  copies += 1;
  tokens.add(token);
  // The fake keeps all emails, and this process only their tokens.
  fake.emails.length = 0;
  return 'accept';
};
const { hook_secret: _, ...settings } = fake.settings;
const server = createServer((request, response) => {
  if (request.url === '/forget') {
    tokens = new Set();
    [copies, firstAt, lastAt] = [0, 0, 0];
  }
  const count: RelayCount = {
    settings,
    emails: tokens.size,
    twice: copies - tokens.size,
    ms: lastAt - firstAt,
  };
  response.end(JSON.stringify(count));
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
  void fake.close();
});
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
