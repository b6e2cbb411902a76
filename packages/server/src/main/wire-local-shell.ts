import type { NewId } from '../platform/ids.ts';
import { createLocalShellServer } from './http/local-shell-server.ts';
import type { DashboardApi } from '../modules/workspace/dashboard-api/mount.ts';
import { type LocalSocket, serveLocalSocket } from './local-socket.ts';
import type { ServerOptions } from './options.ts';

/** `null`: it is off, or the path is too long. */
export async function openLocalShell(
  { localShell: path, log }: Pick<ServerOptions, 'localShell' | 'log'>,
  { api, newId }: { api: DashboardApi; newId: NewId },
): Promise<LocalSocket | null> {
  if (!path) return null;
  const server = await createLocalShellServer({ api, newId, log });
  const socket = serveLocalSocket({ path, log, createServer: () => server.createServer() });
  return {
    start: () => socket.start(),
    stop: async () => void (await Promise.all([socket.stop(), server.close()])),
  };
}
