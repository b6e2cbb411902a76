import type { EmbeddedData } from '../modules/operations/metrics/machine.ts';
import type { Config } from './config.ts';

/** Null if the database is external: its operator makes the backups. */
export function embeddedData({ database, dataDir, backupDir }: Config): EmbeddedData | null {
  if (database !== null) return null;
  return {
    folder: dataDir,
    newestBackupAt: backupDir === null ? null : () => newestBackupIn(backupDir, dataDir),
  };
}

export async function newestBackupIn(folder: string, dataDir: string): Promise<number | null> {
  const { newestBackupAt } = await import('@beckon/postgres');
  return newestBackupAt(folder, dataDir);
}
