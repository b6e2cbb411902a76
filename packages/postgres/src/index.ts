/**
 * The embedded PostgreSQL of one DATA_DIR.
 *
 * Files:
 * - `postgres.json` (ours, 0600): user, password, last port, location of the cluster.
 * - `postgres/`: the cluster, or below the product's `systemFolder` if root's helper account has no access to DATA_DIR.
 * - `postgres/postmaster.pid` (PostgreSQL's): process and port of the running postmaster.
 * - `postgres.log`: the log of PostgreSQL.
 * - `*.init-<pid>-<hex>`: temporary files, renamed when complete, otherwise removed at the next start.
 * - `*.restore-<pid>-<hex>`: a restore or an upgrade in progress, otherwise removed by the next one.
 * - `postgres.pg17`: the old database that an upgrade kept.
 *
 * PostgreSQL's own pid file and shared memory ensure that at most one postmaster serves a cluster; across containers, a lock on its folder
 * does. A process only tries to start one, and adopts it if another process was first. Two advisory locks in the database `postgres` decide
 * everything else:
 * - `users`: shared by every process that uses the cluster. To stop PostgreSQL, a process releases its share, then tries an
 *   exclusive lock.
 * - `server`: held by one process, the server.
 *
 * States of a user:
 * ```
 * absent → (adopt or start) → reached → (users' lock, not stopping) → holding → release → left; the last user stops PostgreSQL
 * holding → connection lost → the server restarts PostgreSQL with backoff and never gives up; a command waits for it
 * ```
 */
export { BackupFailure, EmbeddedFailure } from './failure.ts';
export type { Product } from './product.ts';
export { type EmbeddedConnection, followEmbedded, openEmbedded } from './embedded.ts';
export { archiveCommandOf } from './backup/archive.ts';
export { closeEnvelope, openEnvelope, PASSPHRASE_MIN_CHARS } from './backup/envelope.ts';
export {
  type ListedBackup,
  listBackups,
  newestBackupAt,
  type PruneResult,
  pruneBackups,
  type VerifyResult,
  verifyBackup,
} from './backup/list-backups.ts';
export { restoreBackup, type RestoreResult } from './backup/restore-backup.ts';
export { takeBackup, type BackupResult } from './backup/take-backup.ts';
export type { UpgradeSchema } from './upgrade/copy-database.ts';
export { discardOld, upgradeDatabase, type UpgradeResult } from './upgrade/upgrade-database.ts';
