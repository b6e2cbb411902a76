/**
 * Backups of the embedded database. They need no PostgreSQL program beyond those in its package.
 *
 * ```
 * BACKUP_DIR/
 *   backup-<moment>-<random>/   one backup, complete in itself
 *     data/                     the files of the cluster, as they were during the copy
 *     wal/                      the WAL of that time, compressed, which makes the files consistent
 *     secrets.sealed            the secret key and the password of the database, encrypted with a passphrase
 *     manifest.json             the list of files, with the SHA-256 of each
 *   .backup-….part-<pid>/       a backup in progress, or one whose process was killed; the next backup removes it
 *   wal/<system>/               the WAL since then, if BACKUP_DIR is set, to restore any moment after a backup
 * ```
 *
 * `<system>` is PostgreSQL's number of the cluster. Files directly in `wal/` are from before each cluster had a folder.
 */
export { archiveCommandOf } from './archive.ts';
export { closeEnvelope, openEnvelope, PASSPHRASE_MIN_CHARS } from './envelope.ts';
export { BackupFailure } from './failure.ts';
export {
  type Listed,
  listBackups,
  type Pruned,
  pruneBackups,
  type Verified,
  verifyBackup,
  newestBackupAt,
} from './list-backups.ts';
export { restoreBackup, type Restored } from './restore-backup.ts';
export { findSystemId } from './system-id.ts';
export { takeBackup, type Taken } from './take-backup.ts';
