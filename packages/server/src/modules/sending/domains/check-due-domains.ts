import type { Log } from '../../../platform/log.ts';
import { claimCheck } from './store.ts';
import { listDueDomains } from './reads.ts';
import type { MailSettings } from './domain.ts';
import { checkDomain } from './check-domain.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';

type CheckDomainsOptions = {
  db: Database;
  log: Log;
  resolver: Resolver;
  mail: MailSettings;
};

const DUE_MAX = 200;
/** A silent name server delays only one of these. */
const AT_ONCE = 4;
/** Longer than the slowest check takes. After this time the domain is due again, in case the process has died. */
const CLAIMED_FOR_MS = 5 * 60_000;

type Due = Awaited<ReturnType<typeof listDueDomains>>[number];

/** Checks the DNS records of due domains, each in one process. A process claims a domain by moving its next check forward. */
export async function checkDueDomains(options: CheckDomainsOptions, { stopping }: JobRun): Promise<void> {
  const { db } = options;
  const due = await listDueDomains(db, { now: db.clock.now(), limit: DUE_MAX });

  async function work(): Promise<void> {
    for (let next = due.shift(); next && !stopping.aborted; next = due.shift())
      await checkDueDomain(options, next);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function checkDueDomain(options: CheckDomainsOptions, due: Due): Promise<void> {
  const { db, log } = options;
  const ids = { project_id: due.projectId, domain_id: due.id };
  try {
    if (!(await claimCheck(db, due, db.clock.now() + CLAIMED_FOR_MS))) return;
    const checked = await checkDomain(options, due);
    if (!checked) return;
    const { name, state } = checked.view.domain;
    const fields = { ...ids, domain: name, previous_state: checked.before };
    if (state === checked.before) return;
    if (state === 'verified') log.info(fields, 'domain.verified');
    else log.warn(fields, state === 'failed' ? 'domain.failed' : 'domain.degraded');
  } catch (error) {
    log.warn({ ...ids, err: error }, 'domain.not_checked');
  }
}
