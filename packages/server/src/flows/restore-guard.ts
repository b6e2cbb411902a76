import type { Log } from '../base/log.ts';
import {
  acceptPlace,
  isAccepted,
  isGateClosed,
  noteHere,
  type RestoreGuard,
} from '../features/restores/index.ts';
import type { Database } from '../io/db/index.ts';

/**
 * May letters leave at all? Not from a database that was restored: letters that left after the moment it was restored to are
 * still waiting in it, and would leave a second time. They wait until an operator has confirmed the restore.
 *
 * Webhooks go on. They are told at least once in any case, each under the id that it had, so that whoever hears one twice knows it.
 */
export type GuardDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'clock'>;
  log: Log;
  /** `manual`: a standby takes over here and nothing is lost by it, so that nobody has to be asked. A gate that somebody closed stays so. */
  restoreGuard: RestoreGuard;
};

export async function mayLettersLeave({ db, log, restoreGuard }: GuardDeps): Promise<boolean> {
  if (await isAccepted(db)) return true;
  const found = await noteHere(db, db.clock.now());
  if (found.acceptedAt !== null) return true;
  const { systemId, timeline } = found;
  if (restoreGuard === 'manual' && !(await isGateClosed(db))) {
    await acceptPlace(db, found, { at: db.clock.now(), how: 'failover' });
    log.warn({ system_id: systemId, timeline }, 'restore.accepted_as_failover');
    return true;
  }
  return false;
}

type Known = Pick<Database, 'query' | 'prepared' | 'clock'>;

/** Of a database whose rows were all carried into another cluster: nothing was lost. What waited for a confirmation goes on waiting. */
export async function carryAcceptance({ from, to }: { from: Known; to: Known }): Promise<void> {
  const [known] = await from.query<{ there: boolean }>(
    `SELECT to_regclass('beckon.lineage') IS NOT NULL AS there`,
  );
  if (known?.there !== true || !(await isAccepted(from))) return;
  const place = await noteHere(to, to.clock.now());
  await acceptPlace(to, place, { at: to.clock.now(), how: 'upgraded' });
}
