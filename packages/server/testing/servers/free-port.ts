import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a port for a server that will be killed while clients keep retrying it. The port is below the range for outgoing connections. A
 * client that retries a closed port of that range sometimes gets that port as its own. Then it is connected to itself, and blocks the port
 * for the restarted server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
