import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where a server listens, and by which variable that was said. */
export type Place = { variable: string; host: string; port: number };

export function listening(server: Server, at: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Longer than a commit may take, and short enough for the rest of the ten seconds that a stop has. */
const CUT_OFF_AFTER_MS = 6_000;
const LOOK_FOR_IDLE_EVERY_MS = 50;

/** Connections end as they fall idle; who is still sending after six seconds is cut off. */
export async function closed(
  server: Server,
  close: () => Promise<void> = () => closeListener(server),
): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), LOOK_FOR_IDLE_EVERY_MS);
  const cut = setTimeout(() => server.closeAllConnections(), CUT_OFF_AFTER_MS);
  try {
    await close();
  } finally {
    clearInterval(idle);
    clearTimeout(cut);
  }
}

function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

export function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

/** What the system says of a port is said with the name of the variable that has to be changed. */
export async function listens<T>({ variable, host, port }: Place, started: Promise<T>): Promise<T> {
  try {
    return await started;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const why = TROUBLES[String(code)];
    if (why === undefined) throw error;
    throw new Error(`${variable} ${port} at ${host} ${why}`, { cause: error });
  }
}

const TROUBLES: Record<string, string> = {
  EADDRINUSE: 'is in use by another program. Stop that program, or use another port',
  EACCES: 'cannot be opened by this user. Use a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
};
