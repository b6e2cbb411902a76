import type { Log } from '../../../platform/log.ts';
import { acceptDatabase, isAccepted, isGateClosed, recordIdentity } from './store.ts';
import type { RestoreGuard } from './database-timeline.ts';
import type { Database } from '../../../platform/db/database.ts';

export type GuardDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'clock'>;
  log: Log;
  /** `manual`: a standby takes over here without any loss, so no confirmation is needed. A gate that an operator closed stays closed. */
  restoreGuard: RestoreGuard;
};

/**
 * Returns true if emails may be sent at all. In a restored database, emails that were sent after the restored time are still waiting and
 * would be sent twice. They wait until an operator has confirmed the restore.
 *
 * Webhooks continue. They are delivered at least once in any case, each with its original id, so that a receiver recognizes a duplicate.
 */
export async function maySendEmails({ db, log, restoreGuard }: GuardDeps): Promise<boolean> {
  if (await isAccepted(db)) return true;
  const identity = await recordIdentity(db, db.clock.now());
  if (identity.acceptedAt !== null) return true;
  const { systemId, timeline } = identity;
  if (restoreGuard === 'manual' && !(await isGateClosed(db))) {
    await acceptDatabase(db, identity, { at: db.clock.now(), origin: 'failover' });
    log.warn({ system_id: systemId, timeline }, 'restore.accepted_as_failover');
    return true;
  }
  return false;
}

type LineageDb = Pick<Database, 'query' | 'prepared' | 'clock'>;

/**
 * Accepts a database whose rows were all copied to another cluster, because nothing was lost. A database that waited for a confirmation
 * still waits.
 */
export async function carryAcceptance({ from, to }: { from: LineageDb; to: LineageDb }): Promise<void> {
  const [row] = await from.query<{ there: boolean }>(
    `SELECT to_regclass('beckon.database_timeline') IS NOT NULL AS there`,
  );
  if (row?.there !== true || !(await isAccepted(from))) return;
  const identity = await recordIdentity(to, to.clock.now());
  await acceptDatabase(to, identity, { at: to.clock.now(), origin: 'upgraded' });
}
