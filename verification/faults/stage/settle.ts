import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import { resumeProject } from '../../../packages/server/src/modules/administration/pause-project.ts';
import { resumeDomain } from '../../../packages/server/src/modules/sending/domains/change-domain.ts';
import type { OpenStage } from './open-stage.ts';
import { verifyDomain } from './world.ts';

/** The waiting work: how much of each kind. */
export type WaitingWork = Record<string, number>;

const POLL_MS = 500;
const LOAD_ENDS_WITHIN_MS = 120_000;

/**
 * Removes all faults and ends the load. Then it moves time forward in the database for work that waits for a later hour, until no work
 * waits. Work that still waits after `withinMs` waits forever.
 */
export async function settle(stage: OpenStage, withinMs: number): Promise<WaitingWork> {
  await restoreAll(stage);
  if (!(await stage.endLoad(LOAD_ENDS_WITHIN_MS))) return { 'unanswered requests': 1 };
  await resumeStopped(stage);
  await endLeases(stage);
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    await passTime(stage.db);
    const waiting = await countWaiting(stage.db);
    const reports = stage.reportsLeft();
    if (reports > 0) waiting['reports of providers'] = reports;
    if (Object.keys(waiting).length === 0) break;
    if (Date.now() > giveUpAt) return waiting;
    await pause(POLL_MS);
  }
  stage.journal.write({ kind: 'quiet', at: Date.now() });
  return {};
}

async function restoreAll(stage: OpenStage): Promise<void> {
  const { wires, cluster, victims, setBadEndpoint, dns } = stage;
  for (const wire of [wires.database, wires.smtp, wires.hooks, wires.relays, wires.api]) wire.restore();
  setBadEndpoint('fine');
  stage.endProviderFaults();
  dns.fail(null);
  for (const victim of victims) victim.signal('SIGCONT');
  if (!cluster.isUp()) await cluster.start();
  for (const victim of victims) await victim.ready();
}

/** Resumes projects and domains that an action of the run stopped. Drafts that wait for review stay. */
async function resumeStopped({ db, deps, world }: OpenStage): Promise<void> {
  for (const { id, kind, domain: name, otherDomain } of world.projects) {
    const projectId = Number(id);
    await resumeProject(db, { projectId, actor: 'operator', confirmed: true });
    if (kind === 'unverified') await verifyDomain(deps, { projectId, name });
    // Resumes a domain that was stopped after too many refusals. For other domains it is a no-op.
    await resumeDomain(db, { projectId, name });
    if (otherDomain !== undefined) await resumeDomain(db, { projectId, name: otherDomain });
  }
}

/** The processes that held the leases are gone, so all their work counts as abandoned at once. */
async function endLeases({ db, victims }: OpenStage): Promise<void> {
  const workers = victims.filter(({ role }) => role === 'worker');
  for (const worker of workers) await worker.stop();
  await db.query(`UPDATE beckon.email SET next_at = now() WHERE next_at > now()`);
  await db.query(
    `UPDATE beckon.webhook_delivery SET next_at = now() WHERE state = 'delivering' AND next_at > now()`,
  );
  await db.query(`UPDATE beckon.webhook_health SET open_until = now() WHERE open_until > now()`);
  await makeTimersDue(db);
  for (const worker of workers) await worker.start();
}

/**
 * Makes deadlines, retries and postponements due now, except for drafts that wait for review. Send checks run again all the same, and may
 * hold an email again.
 */
async function passTime(db: Database): Promise<void> {
  const updates = [
    await db.query(
      `UPDATE beckon.draft SET deadline_at = least(deadline_at, now()), due_at = now(), not_before = least(not_before, now())
       WHERE (state = 'approved' OR (state = 'scheduled' AND deadline_at IS NOT NULL)) AND due_at > now() RETURNING 1`,
    ),
    await db.query(
      `UPDATE beckon.draft SET due_at = now() WHERE state = 'held' AND due_at > now()
         AND reason IN ('deferred', 'domain_not_ready', 'no_sender', 'domain_throttle', 'provider_throttle', 'warmup') RETURNING 1`,
    ),
    await db.query(
      `UPDATE beckon.webhook_delivery SET next_at = now() WHERE state = 'pending' AND next_at > now() RETURNING 1`,
    ),
    await db.query(`UPDATE beckon.email SET ask_at = now() WHERE ask_at > now() RETURNING 1`),
  ];
  if (updates.some((rows) => rows.length > 0)) await makeTimersDue(db);
}

async function makeTimersDue(db: Database): Promise<void> {
  await db.query(
    `UPDATE beckon.project_timer SET next_at = now() WHERE work IN ('send', 'webhooks') AND next_at > now()`,
  );
}

const WAITING: Record<string, string> = {
  'accepted records': `SELECT sum(records) FROM beckon.ingest_queue`,
  // A draft that waits for review has no deadline, only a day from which it is not worth sending.
  'drafts that are due': `SELECT count(*) FROM beckon.draft WHERE state IN ('approved', 'sending') OR (state = 'scheduled' AND deadline_at IS NOT NULL)`,
  'deferred drafts': `SELECT count(*) FROM beckon.draft WHERE state = 'held' AND reason IN ('deferred', 'domain_not_ready')`,
  'claimed or deferred emails': `SELECT count(*) FROM beckon.email WHERE state IN ('claimed', 'submitting') OR (state = 'deferred' AND attempts > 0)`,
  'relays to be asked again': `SELECT count(*) FROM beckon.email WHERE ask_at IS NOT NULL`,
  'unclassified hits': `SELECT count(*) FROM beckon.hit_count WHERE classify_at IS NOT NULL`,
  'pending webhook deliveries': `SELECT count(*) FROM beckon.webhook_delivery WHERE next_at IS NOT NULL`,
};

async function countWaiting(db: Database): Promise<WaitingWork> {
  const waiting: WaitingWork = {};
  for (const [name, sql] of Object.entries(WAITING)) {
    const [row] = await db.query<{ n: number | null }>(`SELECT (${sql})::int AS n`);
    if (row?.n) waiting[name] = row.n;
  }
  return waiting;
}
