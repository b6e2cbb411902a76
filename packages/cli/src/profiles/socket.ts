import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { localSocket } from '@beckon/contract/local-socket';
import type { Shell } from '../shell.ts';

/** Finds the socket of a server on this machine, if this account can see it. The server resolves DATA_DIR in the same way. */
export async function findLocalSocket({
  env,
  cwd,
  platform,
}: Pick<Shell, 'env' | 'cwd' | 'platform'>): Promise<string | null> {
  const path = localSocket(resolve(cwd, env['DATA_DIR']?.trim() || './data'), platform);
  const found = path === null ? null : await stat(path).catch(() => null);
  if (found === null) return null;
  return platform === 'win32' || found.isSocket() ? path : null;
}
