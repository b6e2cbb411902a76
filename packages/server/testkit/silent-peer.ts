import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { ConnectionSource } from '../src/io/db/index.ts';

/** Stands before a database, and goes silent when it is told to: as a machine that lost its power, it says no goodbye. */
export type SilentPeer = {
  connection: ConnectionSource;
  /** Connections that were made so far. */
  made(): number;
  /** From now on nothing passes, in either direction. */
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
