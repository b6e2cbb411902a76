import { resolve } from 'node:path';
import { localSocket } from '@beckon/contract/local-socket';
import type { createReader } from './env-reader.ts';

type Reader = ReturnType<typeof createReader>;

export type LocalShellConfig = {
  dataDir: string;
  /** The socket of the local shell; null: `LOCAL_SHELL` is off, or the path is too long. */
  localShell: string | null;
  /** Valid settings that are probably a mistake. */
  warnings: string[];
};

export function readLocalShell(read: Reader): LocalShellConfig {
  const dataDir = resolve(read.text('DATA_DIR') ?? './data');
  if (read.oneOf('LOCAL_SHELL', ['on', 'off']) === 'off') return { dataDir, localShell: null, warnings: [] };
  const localShell = localSocket(dataDir, process.platform);
  const warning = `DATA_DIR is ${dataDir}: too long for the socket of the local shell, so beckon on this machine needs a login. Use a shorter path, or set LOCAL_SHELL=off`;
  return { dataDir, localShell, warnings: localShell === null ? [warning] : [] };
}
