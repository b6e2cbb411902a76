import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { ConnectionSource } from '../../src/platform/db/connections.ts';

/** A proxy in front of a database that goes silent on demand: like a machine without power, it closes no connection. */
export type SilentPeer = {
  connection: ConnectionSource;
  /** Returns the number of connections so far. */
  made(): number;
  /** Drops everything in both directions from now on. */
  goSilent(): void;
  close(): Promise<void>;
};

export async function silentPeer(databaseUrl: string): Promise<SilentPeer> {
  const url = new URL(databaseUrl);
  const to = { host: url.hostname, port: Number(url.port || 5432) };
  const pairs: [Socket, Socket][] = [];
  let isSilent = false;
  const server = createServer((client) => {
    const upstream = connect(to);
    pairs.push([client, upstream]);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    if (isSilent) return;
    client.pipe(upstream).pipe(client);
  });
  let closing: Promise<void> | undefined;
  async function end(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of pairs.flat()) socket.destroy();
    await closed;
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    connection: () => ({ connectionString: url.href }),
    made: () => pairs.length,
    goSilent() {
      isSilent = true;
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
    },
    close: () => (closing ??= end()),
  };
}
