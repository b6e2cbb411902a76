import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The address of a server, and the variable that set it. */
export type ListenAddress = { variable: string; host: string; port: number };

export function listening(server: Server, at: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Longer than a commit may take, and short enough for the remaining work of a stop within ten seconds. */
const CUT_OFF_AFTER_MS = 6_000;
const LOOK_FOR_IDLE_EVERY_MS = 50;

/** Closes connections as they become idle, and cuts off those that are still sending after six seconds. */
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

/** Adds the name of the variable to change to a system error about a port. */
export async function listens<T>({ variable, host, port }: ListenAddress, started: Promise<T>): Promise<T> {
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
