import { claimDueHits, type DueHits, type DueEmail, listDueHits, listHits } from './hit-reads.ts';
import {
  type ReportedOutcome,
  type HitFacts,
  judgeHits,
  type KeptHit,
  putOffHits,
  type RecordDeps,
  recordOutcomesIn,
  saveVerdicts,
  SETTLE_AFTER_MS,
  settleCounts,
  type BotClassification,
  type WhatHappened,
} from '../../outcomes/index.ts';
import { isCollision, isPoisonous } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { readTurn, timed } from '../../../platform/locks/project-lock.ts';

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
  const found = [...due.values()].reduce((sum, some) => sum + some.length, 0);
  let emails = 0;
  for (const [projectId, some] of due)
    for (const messageIds of inParts(some)) emails += await settleSome(deps, { projectId, messageIds });
  // Emails that are locked or fail are found again at once, so it continues only after progress.
  return { emails, isMore: found === EMAILS_MAX && emails > 0 };
}

/** Splits emails by their number of hits, because a scanner follows every link of every email, all at once. */
function inParts(due: DueHits[]): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const { messageId, hits } of due) {
    if (hits <= room) parts.at(-1)?.push(messageId);
    else {
      parts.push([messageId]);
      room = HITS_AT_ONCE;
    }
    room -= hits;
  }
  return parts;
}

type Due = { projectId: number; messageIds: string[] };

/** Classifies the hits of these emails. An email that the database rejects is found by bisection. */
async function settleSome(deps: RecordDeps, { projectId, messageIds }: Due): Promise<number> {
  const { db, log } = deps;
  try {
    return await db.transaction((tx) => settleIn(tx, deps, { projectId, messageIds }));
  } catch (error) {
    if (isPoisonous(error) && messageIds.length > 1) {
      const half = Math.ceil(messageIds.length / 2);
      const settled = await settleSome(deps, { projectId, messageIds: messageIds.slice(0, half) });
      return settled + (await settleSome(deps, { projectId, messageIds: messageIds.slice(half) }));
    }
    log.warn({ project_id: projectId, emails: messageIds.length, err: error }, 'hits.not_classified');
    if (!isCollision(error))
      await putOffHits(db, { projectId, messageIds, until: new Date(db.clock.now() + AGAIN_MS) });
    return 0;
  }
}

/** Locks the counts before everything else, and only those that are free, so that no holder of one waits for another. */
async function settleIn(tx: Tx, { db, newId }: RecordDeps, { projectId, messageIds }: Due): Promise<number> {
  const now = db.clock.now();
  const emails = await claimDueHits(tx, { projectId, messageIds, now });
  if (emails.length === 0) return 0;
  const places = emails.map(({ messageId }) => ({ projectId, messageId }));
  const { aheadMs } = await readTurn(tx, projectId);
  const hits = Map.groupBy(await listHits(tx, places), ({ messageId }) => messageId);
  const settled = emails.map(({ messageId, sentAt, ...email }) => {
    // Hits are in real time, and the email was sent by the clock of its project.
    const leftAt = sentAt === null ? null : sentAt - aheadMs;
    return { messageId, ...settleEmail({ ...email, sentAt: leftAt }, hits.get(messageId) ?? [], now) };
  });
  const judged = settled.flatMap(({ messageId, ...of }) => of.judged.map((one) => ({ messageId, ...one })));
  await saveVerdicts(tx, projectId, judged);
  await settleCounts(tx, projectId, settled);
  db.reach?.('hits_settling');
  const happened = settled.flatMap(({ messageId, ...of }) =>
    of.happened.map((one): ReportedOutcome => ({
      projectId,
      messageId,
      ...one,
      occurredAt: one.occurredAt + aheadMs,
    })),
  );
  const own = timed({ db, newId }, aheadMs);
  if (happened.length > 0)
    await recordOutcomesIn(tx, projectId, { happened, now: now + aheadMs, newId: own.newId, aheadMs });
  return emails.length;
}

type SettledEmail = {
  judged: ({ number: number } & BotClassification)[];
  happened: (WhatHappened & { occurredAt: number })[];
  /** When the next of its hits is due, or null if all are classified. */
  settleAt: number | null;
};

/** Classifies the due hits of an email with regard to all others, and returns the resulting outcomes. */
function settleEmail(
  { sentAt, opens, urls }: Omit<DueEmail, 'messageId'>,
  hits: readonly KeptHit[],
  now: number,
): SettledEmail {
  const verdicts = judgeHits(hits, sentAt);
  const due = hits.flatMap((hit, at) => {
    const verdict = verdicts[at];
    return verdict && hit.bot === null && hit.at + SETTLE_AFTER_MS <= now ? [{ hit, verdict }] : [];
  });
  const later = hits.filter(({ bot, at }) => bot === null && at + SETTLE_AFTER_MS > now);
  const inTime = due.toSorted((a, b) => a.hit.at - b.hit.at || a.hit.number - b.hit.number);
  return {
    judged: due.map(({ hit, verdict }) => ({ number: hit.number, ...verdict })),
    happened: inTime.flatMap(({ hit, verdict }) => whatHappened(hit, verdict, { opens, urls })),
    settleAt: later.length === 0 ? null : Math.min(...later.map(({ at }) => at)) + SETTLE_AFTER_MS,
  };
}

type Happening = SettledEmail['happened'];

/** A human who follows a link has read the email, even if its images were not loaded. */
function whatHappened(
  { kind, link, at }: HitFacts,
  { bot, reason }: BotClassification,
  { opens, urls }: Pick<DueEmail, 'opens' | 'urls'>,
): Happening {
  const occurredAt = at;
  if (kind === 'open') return [{ type: 'email.opened', bot, botReason: reason, occurredAt }];
  const url = link === null ? undefined : urls[link];
  if (kind === 'trap' || link === null || url === undefined) return [];
  const clicked = { type: 'email.clicked', bot, botReason: reason, link, url, occurredAt } as const;
  if (bot !== 'no' || !opens) return [clicked];
  return [{ type: 'email.opened', bot, botReason: 'click', occurredAt }, clicked];
}
