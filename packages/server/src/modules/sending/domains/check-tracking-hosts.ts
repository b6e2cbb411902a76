import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Log } from '../../../platform/log.ts';
import { claimProbe } from './store.ts';
import { listDueProbes } from './reads.ts';
import { probeDomain } from './tracking.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';

type CheckTrackingOptions = {
  db: Database;
  log: Log;
  outbound: Pick<Outbound, 'get'>;
  tokenKeys: TokenKeys;
};

const DUE_MAX = 200;
/** A silent host delays only one of these. */
const AT_ONCE = 4;
/** Longer than a request may take. After this time the host is due again, in case the process has died. */
const CLAIMED_FOR_MS = 60_000;

type Due = Awaited<ReturnType<typeof listDueProbes>>[number];

/** Probes whether the tracking hosts of domains lead to this installation, each in one process. */
export async function checkTrackingHosts(options: CheckTrackingOptions, { stopping }: JobRun): Promise<void> {
  const { db } = options;
  const due = await listDueProbes(db, { now: db.clock.now(), limit: DUE_MAX });

  async function work(): Promise<void> {
    for (let next = due.shift(); next && !stopping.aborted; next = due.shift())
      await probeDueHost(options, next);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function probeDueHost(options: CheckTrackingOptions, due: Due): Promise<void> {
  const { db, log } = options;
  const ids = { project_id: due.projectId, domain_id: due.id };
  try {
    if (!(await claimProbe(db, due, db.clock.now() + CLAIMED_FOR_MS))) return;
    const probed = await probeDomain(options, due);
    if (!probed || probed.before === probed.after) return;
    const { host, found } = probed.domain.tracking ?? {};
    const fields = { ...ids, host, reason: found, previous_state: probed.before };
    if (probed.after === 'working') log.info(fields, 'tracking_host.working');
    else log.warn(fields, 'tracking_host.failed');
  } catch (error) {
    log.warn({ ...ids, err: error }, 'tracking_host.not_checked');
  }
}
