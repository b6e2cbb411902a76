import type { EmbeddedData } from '../http/index.ts';
import type { Config } from './config.ts';

/** Null where somebody else runs the database, and makes its backups. */
export function embeddedData({ database, dataDir, backupDir }: Config): EmbeddedData | null {
  if (database !== null) return null;
  return { folder: dataDir, newestBackupAt: backupDir === null ? null : () => newestBackupIn(backupDir) };
}

export async function newestBackupIn(folder: string): Promise<number | null> {
  const { newestBackupAt } = await import('../io/embedded/index.ts');
  return newestBackupAt(folder);
}
