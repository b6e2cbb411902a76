/**
 * Backups of the embedded database, without a program of PostgreSQL that its package does not have.
 *
 * BACKUP_DIR/
 *   backup-<moment>-<chance>/   one backup, whole by itself
 *     data/                     the files of the cluster, as they were while they were copied
 *     wal/                      the log of that time, compressed: it puts the files right
 *     secrets.sealed            the secret key and the password of the database, closed by a passphrase
 *     manifest.json             what belongs to it, with the SHA-256 of each file
 *   .backup-….part-<pid>/       one that is being made, or that was killed at it: swept by the next
 *   wal/<system>/               the log from then on, where BACKUP_DIR is set: any moment behind a backup can be had; <system> is PostgreSQL's
 *                               number of the cluster, and what lies in `wal/` itself was copied before each had a folder
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
