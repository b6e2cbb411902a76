import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { transportRules } from '../../../platform/http/transport.ts';
import { serveEvents } from './streams.ts';
import { createFeeds } from './feeds.ts';

const transport = transportRules({ publicUrl: 'http://localhost:8080', trustProxy: [] });

test('starts no stream and reads nothing for a client that left before it began', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = request({ host: '127.0.0.1', port }).on('error', () => {});
  client.end();
  const [raw, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const closed = once(response, 'close');
  client.destroy();
  await closed;
  const feeds = createFeeds();
  let looks = 0;
  const input = {
    member: { id: 'ada' },
    request: { raw, id: 'r' },
    reply: { raw: response, hijack: () => {} },
    isStillIn: () => Promise.resolve(true),
  };
  const events = (): AsyncIterable<string> => {
    looks += 1;
    return Readable.from([]);
  };
  const stream = { isGap: false, position: 'here', events };
  await serveEvents({ feeds, transport } as never, input as never, stream);
  expect([looks, feeds.count()]).toEqual([0, 0]);
  server.close();
});
