/**
 * The embedded PostgreSQL of one DATA_DIR.
 *
 * Files. `postgres.json` (ours, 0600): user, password, last port, place of the cluster. `postgres/`: the cluster, or below `/var/lib/beckon/` where
 * root's helper account cannot enter. `postgres/postmaster.pid` (PostgreSQL's): process and port of the one that runs.
 * `postgres.log`. `*.init-<pid>-<hex>`: drafts, renamed when whole, swept at the next start otherwise; `*.restore-<pid>-<hex>`: a restore or an
 * upgrade under way, swept by the next one. `postgres.pg17`: what an upgrade has kept.
 *
 * Who decides what. That one postmaster at most serves a cluster, PostgreSQL's own pid file and shared memory decide, and over several
 * containers a lock on its folder: we only try to start, and adopt when another was first. Everything else two advisory locks decide, in the database `postgres`:
 *   users   shared by every process that uses the cluster; who wants to stop PostgreSQL gives up the share, then tries for all of it
 *   server  one process, the server
 *
 * A user's moves:
 *   absent → (adopt or start) → reached → (users' lock, not stopping) → holding → release → left, and PostgreSQL stopped by the last
 *   holding → connection lost → the server starts PostgreSQL again with backoff and never gives up; a command waits for it
 */
export { EmbeddedFailure, type EmbeddedFailureCode } from './failure.ts';
export { followEmbedded } from './follow.ts';
export {
  type Embedded,
  type EmbeddedConnection,
  type EmbeddedOptions,
  openEmbedded,
} from './open-embedded.ts';
export * from './backup/index.ts';
export { discardOld, upgradeDatabase, type Upgraded } from './upgrade/upgrade-database.ts';
