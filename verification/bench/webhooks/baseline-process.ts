/** The baseline: signed POSTs over keep-alive connections without writing anything to a database. `POST /` with what to send. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Agent, request as ask } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { newWebhookSecret, readWebhookSecret, signWebhook } from '@beckon/contract/signature';

export type Baseline = { port: number; deliveries: number; connections: number; body: string };

const CA = readFileSync(join(import.meta.dirname, '../../../packages/server/testing/servers/tls/names.crt'));
const secret = readWebhookSecret(newWebhookSecret()) ?? Buffer.alloc(32);

async function post({ port, deliveries, connections, body: text }: Baseline): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca: CA });
  const body = Buffer.from(text);
  let sent = 0;
  async function work(): Promise<void> {
    while (sent < deliveries) {
      sent += 1;
      const id = `msg_${sent}`;
      const signed = signWebhook({ id, body, timestamp: Math.floor(Date.now() / 1_000), secrets: [secret] });
      await new Promise<void>((resolve, reject) => {
        const headers = { ...signed, 'content-type': 'application/json', 'content-length': body.byteLength };
        const options = { host: '127.0.0.1', port, path: '/0/bare', method: 'POST', headers, agent };
        ask(options, (response) => response.resume().on('end', resolve))
          .on('error', reject)
          .end(body);
      });
    }
  }
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
}

const server = createServer((request, response) => {
  void json(request)
    .then((bare) => post(bare as Baseline))
    .then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
});
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
