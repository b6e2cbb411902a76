import { dropEmptyPartitions, forgetEvents } from '../../users/index.ts';
import { forgetDead, forgetStream } from '../../ingest/index.ts';
import { getSettings, listProjects } from '../../workspace/index.ts';
import { inboundRetention } from '../../inbound/index.ts';
import { deleteFrozen } from '../../sending/index.ts';
import { forgetWebhooks } from '../../webhooks/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';
import { listRulesInForce } from '../../rules/index.ts';

/** A step takes about ten milliseconds, so no other transaction waits long for it. */
const STEP = 1_000;
/** Conditions with a window look back this much further, because clocks differ. */
const MARGIN_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A webhook is useful as long as it can be replayed. */
const WEBHOOKS_KEPT_MS = 30 * DAY_MS;

const ROUND_MAX_MS = 5_000;
const REST_MS = 3_600_000;

type HistoryDb = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;

/**
 * Returns a job that deletes data past its retention, project by project. A round ends after some seconds, and the next one continues
 * after the last project. A project with more rows than one round can delete goes to the back of the list, so that each gets its turn.
 * When all are done, it drops old empty partitions and rests for an hour.
 */
export function historyDeleter(db: HistoryDb): (run: JobRun) => Promise<void> {
  let left: number[] = [];
  let restUntil = 0;
  return async ({ stopping }) => {
    if (db.clock.now() < restUntil) return;
    if (left.length === 0) left = (await listProjects(db)).map(({ id }) => id);
    const endsAt = performance.now() + ROUND_MAX_MS;
    const mayGoOn = (): boolean => !stopping.aborted && performance.now() < endsAt;
    while (mayGoOn() && left.length > 0) {
      const [projectId = 0, ...others] = left;
      left = [...others, projectId];
      if (await forgetHistory(db, projectId, mayGoOn)) left = others;
    }
    if (left.length > 0) return;
    restUntil = db.clock.now() + REST_MS;
    await dropEmptyPartitions(db, db.clock.now());
  };
}

type Step = (tx: Tx, input: { projectId: number; before: Date; limit: number }) => Promise<number>;

/**
 * Deletes what a project no longer keeps: events, changes, dead-lettered records, sent emails with their links and replies, and webhooks.
 * Each step is a separate transaction; it continues while `canContinue` returns true. Outcomes of emails are kept as long as the emails
 * themselves. Returns true if everything was deleted.
 */
export async function forgetHistory(
  db: HistoryDb,
  projectId: number,
  canContinue: () => boolean,
): Promise<boolean> {
  const { settings } = await getSettings(db, projectId);
  const lookedBackTo = settings.keepEventsMs === null ? [] : await namesLookedBackTo(db, projectId);
  const steps: [keepMs: number | null, step: Step][] = [
    [settings.keepEventsMs, (tx, input) => forgetEvents(tx, { ...input, lookedBackTo })],
    [settings.keepStreamMs, forgetStream],
    [settings.keepDeadMs, forgetDead],
    [settings.keepEmailsMs, deleteFrozen],
    ...inboundRetention.map(({ keptMs, forget }): [keepMs: number | null, step: Step] => [
      typeof keptMs === 'string' ? settings[keptMs] : keptMs,
      forget,
    ]),
    [WEBHOOKS_KEPT_MS, forgetWebhooks],
  ];
  for (const [keepMs, step] of steps) {
    if (keepMs === null) continue;
    const before = new Date(db.clock.now() - keepMs - MARGIN_MS);
    let deleted = STEP;
    while (deleted === STEP) {
      if (!canContinue()) return false;
      deleted = await db.transaction((tx) => step(tx, { projectId, before, limit: STEP }));
    }
  }
  return true;
}

/** Returns the events that show, when a rule's timer fires, whether its subject is still current. That may be a year later. */
async function namesLookedBackTo(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<string[]> {
  const rules = await listRulesInForce(db, projectId, db.clock.now());
  const names = rules.flatMap(({ definition: { about } }) => (about ? [about.event, ...about.until] : []));
  return [...new Set(names)];
}
