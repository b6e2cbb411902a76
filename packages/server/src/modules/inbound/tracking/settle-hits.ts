import { claimDueHits, type DueHits, type DueEmail, listDueHits, listHits } from './hit-reads.ts';
import {
  type ReportedOutcome,
  type RecordDeps,
  recordOutcomesIn,
  type OutcomeData,
} from '../../outcomes/index.ts';
import { isCollision, isPoisonous } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';
import { readProjectLock, withClockAhead } from '../../../platform/locks/project-lock.ts';
import {
  type HitFacts,
  classifyHits,
  type StoredHit,
  SETTLE_AFTER_MS,
  type BotClassification,
} from './hits.ts';
import { postponeHits, saveClassifications, settleCounts } from './store.ts';

/** How many emails are read at once. */
const EMAILS_MAX = 500;
/**
 * Hits of a project that are classified in one transaction. Each may become two outcomes, and each outcome a delivery to every endpoint.
 */
const HITS_AT_ONCE = 1_000;
/** Hits that cannot be classified come before all others, and without this delay only they would be read. */
const AGAIN_MS = 60_000;

/**
 * Classifies hits that are old enough, and records the outcomes in the same transaction. A failing project does not affect the others.
 * Returns the number of emails.
 */
export async function settleHits(deps: RecordDeps): Promise<{ emails: number; isMore: boolean }> {
  const { db } = deps;
  const due = await listDueHits(db, { now: db.clock.now(), limit: EMAILS_MAX });
  const found = [...due.values()].reduce((sum, dueHits) => sum + dueHits.length, 0);
  let emails = 0;
  for (const [projectId, dueHits] of due)
    for (const emailIds of inParts(dueHits)) emails += await settleProject(deps, { projectId, emailIds });
  // Emails that are locked or fail are found again at once, so it continues only after progress.
  return { emails, isMore: found === EMAILS_MAX && emails > 0 };
}

/** Classifies opens and clicks as human or bot, some seconds after they happened. */
export async function settleDueHits(deps: RecordDeps, { stopping }: JobRun): Promise<void> {
  let isMore = true;
  while (isMore && !stopping.aborted) ({ isMore } = await settleHits(deps));
}

/** Splits emails by their number of hits, because a scanner follows every link of every email, all at once. */
function inParts(due: DueHits[]): string[][] {
  const parts: string[][] = [];
  let capacity = 0;
  for (const { emailId, hits } of due) {
    if (hits <= capacity) parts.at(-1)?.push(emailId);
    else {
      parts.push([emailId]);
      capacity = HITS_AT_ONCE;
    }
    capacity -= hits;
  }
  return parts;
}

type Due = { projectId: number; emailIds: string[] };

/** Classifies the hits of these emails. An email that the database rejects is found by bisection. */
async function settleProject(deps: RecordDeps, { projectId, emailIds }: Due): Promise<number> {
  const { db, log } = deps;
  try {
    return await db.transaction((tx) => settleIn(tx, deps, { projectId, emailIds }));
  } catch (error) {
    if (isPoisonous(error) && emailIds.length > 1) {
      const half = Math.ceil(emailIds.length / 2);
      const settled = await settleProject(deps, { projectId, emailIds: emailIds.slice(0, half) });
      return settled + (await settleProject(deps, { projectId, emailIds: emailIds.slice(half) }));
    }
    log.warn({ project_id: projectId, emails: emailIds.length, err: error }, 'hits.not_classified');
    if (!isCollision(error))
      await postponeHits(db, { projectId, emailIds, until: new Date(db.clock.now() + AGAIN_MS) });
    return 0;
  }
}

/** Locks the counts before everything else, and only those that are free, so that no holder of one waits for another. */
async function settleIn(tx: Tx, { db, newId }: RecordDeps, { projectId, emailIds }: Due): Promise<number> {
  const now = db.clock.now();
  const emails = await claimDueHits(tx, { projectId, emailIds, now });
  if (emails.length === 0) return 0;
  const keys = emails.map(({ emailId }) => ({ projectId, emailId }));
  const { aheadMs } = await readProjectLock(tx, projectId);
  const hits = Map.groupBy(await listHits(tx, keys), ({ emailId }) => emailId);
  const settled = emails.map(({ emailId, sentAt, ...email }) => {
    // Hits are in real time, and the email was sent by the clock of its project.
    const sentAtReal = sentAt === null ? null : sentAt - aheadMs;
    return { emailId, ...settleEmail({ ...email, sentAt: sentAtReal }, hits.get(emailId) ?? [], now) };
  });
  const judged = settled.flatMap(({ emailId, ...of }) =>
    of.judged.map((classification) => ({ emailId, ...classification })),
  );
  await saveClassifications(tx, projectId, judged);
  await settleCounts(tx, projectId, settled);
  db.failpoint?.('hits_classified');
  const happened = settled.flatMap(({ emailId, ...of }) =>
    of.happened.map((outcome): ReportedOutcome => ({
      projectId,
      emailId,
      ...outcome,
      occurredAt: outcome.occurredAt + aheadMs,
    })),
  );
  const projectDeps = withClockAhead({ db, newId }, aheadMs);
  if (happened.length > 0)
    await recordOutcomesIn(tx, projectId, {
      outcomes: happened,
      now: now + aheadMs,
      newId: projectDeps.newId,
      aheadMs,
    });
  return emails.length;
}

type SettledEmail = {
  judged: ({ number: number } & BotClassification)[];
  happened: (OutcomeData & { occurredAt: number })[];
  /** When the next of its hits is due, or null if all are classified. */
  classifyAt: number | null;
};

/** Classifies the due hits of an email with regard to all others, and returns the resulting outcomes. */
function settleEmail(
  { sentAt, opens, urls }: Omit<DueEmail, 'emailId'>,
  hits: readonly StoredHit[],
  now: number,
): SettledEmail {
  const classifications = classifyHits(hits, sentAt);
  const due = hits.flatMap((hit, at) => {
    const classification = classifications[at];
    return classification && hit.bot === null && hit.at + SETTLE_AFTER_MS <= now
      ? [{ hit, verdict: classification }]
      : [];
  });
  const later = hits.filter(({ bot, at }) => bot === null && at + SETTLE_AFTER_MS > now);
  const inTime = due.toSorted((a, b) => a.hit.at - b.hit.at || a.hit.number - b.hit.number);
  return {
    judged: due.map(({ hit, verdict: classification }) => ({ number: hit.number, ...classification })),
    happened: inTime.flatMap(({ hit, verdict: classification }) =>
      whatHappened(hit, classification, { opens, urls }),
    ),
    classifyAt: later.length === 0 ? null : Math.min(...later.map(({ at }) => at)) + SETTLE_AFTER_MS,
  };
}

type HitOutcomes = SettledEmail['happened'];

/** A human who follows a link has read the email, even if its images were not loaded. */
function whatHappened(
  { kind, link, at }: HitFacts,
  { bot, reason }: BotClassification,
  { opens, urls }: Pick<DueEmail, 'opens' | 'urls'>,
): HitOutcomes {
  const occurredAt = at;
  if (kind === 'open') return [{ type: 'email.opened', bot, botReason: reason, occurredAt }];
  const url = link === null ? undefined : urls[link];
  if (kind === 'trap' || link === null || url === undefined) return [];
  const clicked = { type: 'email.clicked', bot, botReason: reason, link, url, occurredAt } as const;
  if (bot !== 'no' || !opens) return [clicked];
  return [{ type: 'email.opened', bot, botReason: 'click', occurredAt }, clicked];
}
