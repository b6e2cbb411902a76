import { localSocket } from '@beckon/contract/local-socket';
import { resolve } from 'node:path';
import type { createReader } from './environment.ts';
import { RESTORE_GUARDS, type RestoreGuard } from '../modules/sending/index.ts';

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

export type BackupConfig = {
  /** The folder for backups and for the continuously copied log of the embedded database; null: neither. */
  backupDir: string | null;
  /** Null: the terminal prompts for it. */
  backupPassphrase: string | null;
  restoreGuard: RestoreGuard;
};

const PASSPHRASE_MIN_CHARS = 12;

export function readBackup(read: ReturnType<typeof createReader>): BackupConfig {
  const dir = read.text('BACKUP_DIR');
  const backupPassphrase = read.secret('BACKUP_PASSPHRASE');
  if (backupPassphrase !== null && backupPassphrase.length < PASSPHRASE_MIN_CHARS)
    read.fault('BACKUP_PASSPHRASE', `must have at least ${PASSPHRASE_MIN_CHARS} characters`);
  return {
    backupDir: dir === null ? null : resolve(dir),
    backupPassphrase,
    restoreGuard: read.oneOf('RESTORE_GUARD', RESTORE_GUARDS) ?? 'auto',
  };
}
