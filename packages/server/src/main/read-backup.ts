import { resolve } from 'node:path';
import { RESTORE_GUARDS, type RestoreGuard } from '../modules/sending/index.ts';
import type { createReader } from './env-reader.ts';

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
