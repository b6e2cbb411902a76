import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import { countReplies, findKnown, findEmails, holdEmails, outcomeKey, type OutcomeEmail } from '../reads.ts';
import type { ReportedOutcome, Outcome } from '../outcome.ts';
import { insertOutcomes } from '../store.ts';
import { acceptOwn } from '../accept-own-event.ts';
import { takeSendTurn } from '../../sending/index.ts';
import { dueEarlier } from '../../../platform/locks/timers.ts';
import { takeTurn } from '../../../platform/locks/project-lock.ts';
import { insertMessages as queueWebhooks } from '../../webhooks/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { inSession } from '../../../platform/db/session-transactions.ts';
import { drawConsequences, liftByLife, type Note } from './consequences.ts';
import { eventOf, isCertain, isOfPerson, outcomeOf, webhookOf } from './outcome-of.ts';
import { lockUnknown, resolveUnknown } from './resolve-unknown.ts';

/**
 * Records outcomes and their consequences in one commit: the outcome, its webhook, its event for rules and audiences, and whatever it ends.
 * Every outcome is written once; reporting it again changes nothing.
 *
 * Opens and clicks arrive in large numbers and end nothing, so they take neither lock. Everything else may end runs and drafts, and is
 * recorded with both the project lock and the send lock held.
 */
export type RecordDeps = {
  /** With the clock of the project whose emails these are. */
  db: Database;
  newId: NewId;
  log: Log;
};

/**
 * Records outcomes, at most 1,000 per transaction. Opens and clicks of a project have transactions of their own. Returns the outcomes that
 * were new.
 */
export async function recordOutcomes(deps: RecordDeps, happened: ReportedOutcome[]): Promise<Outcome[]> {
  const recorded: Outcome[] = [];
  const byProject = [...Map.groupBy(happened, ({ projectId }) => projectId)].toSorted(([a], [b]) => a - b);
  for (const [projectId, some] of byProject) {
    for (const part of [some.filter(isEngagement), some.filter((one) => !isEngagement(one))])
      for (let from = 0; from < part.length; from += OUTCOMES_AT_ONCE)
        recorded.push(...(await recordSlice(deps, projectId, part.slice(from, from + OUTCOMES_AT_ONCE))));
  }
  return recorded;
}

const OUTCOMES_AT_ONCE = 1_000;
/** Retries on deadlock. */
const TRIES = 4;

async function recordSlice(
  deps: RecordDeps,
  projectId: number,
  happened: ReportedOutcome[],
): Promise<Outcome[]> {
  for (let tried = 1; ; tried += 1) {
    try {
      const applied = await recordOnce(deps, projectId, happened);
      for (const { event, ...fields } of applied.notes)
        deps.log.warn({ project_id: projectId, ...fields }, event);
      if (applied.outcomes.length > 0)
        deps.log.info({ project_id: projectId, outcomes: applied.outcomes.length }, 'outcomes.recorded');
      return applied.outcomes;
    } catch (error) {
      if (tried === TRIES || !isCollision(error)) throw error;
    }
  }
}

function recordOnce(
  { db, newId }: RecordDeps,
  projectId: number,
  happened: ReportedOutcome[],
): Promise<Applied> {
  return inSession(db, async (tx) => {
    if (needsTurns(happened)) {
      await takeTurn(tx, projectId);
      await takeSendTurn(tx, projectId);
    }
    const applied = await applyOutcomes(tx, projectId, {
      happened,
      now: db.clock.now(),
      newId,
      aheadMs: db.aheadMs,
    });
    await tellOutcomes(tx, [applied]);
    db.reach?.('outcome_committing');
    await tx.commit();
    db.reach?.('outcome_committed');
    return applied;
  });
}

/**
 * Records outcomes of one project in the caller's transaction. If `needsTurns` is true, the caller has taken `takeTurn` and then
 * `takeSendTurn` before anything else. The queue row is locked last, so that the commit follows at once. Opens and clicks are never passed
 * together with other outcomes.
 */
export async function recordOutcomesIn(tx: Tx, projectId: number, given: OutcomeBatch): Promise<Outcome[]> {
  const applied = await applyOutcomes(tx, projectId, given);
  await tellOutcomes(tx, [applied]);
  return applied.outcomes;
}

/** Returns true if any of these may end a run or a draft. */
function needsTurns(happened: readonly Pick<ReportedOutcome, 'type'>[]): boolean {
  return happened.some((one) => !isEngagement(one));
}

function isEngagement({ type }: Pick<ReportedOutcome, 'type'>): boolean {
  return type === 'email.opened' || type === 'email.clicked';
}

/** The result of `applyOutcomes` in a transaction; `tellOutcomes` does the rest. `notes` are logged after the commit. */
export type Applied = {
  projectId: number;
  outcomes: Outcome[];
  emails: Map<string, OutcomeEmail>;
  now: number;
  /** When the webhooks and events become due, in real time. */
  toldAt: number;
  notes: Note[];
};

/** `now` is the time of the project, whose clock is `aheadMs` ahead. */
export type OutcomeBatch = { happened: ReportedOutcome[]; now: number; newId: NewId; aheadMs: number };

/** Does everything except for the rows that are locked last, for callers that have more to do in the same transaction. */
export async function applyOutcomes(
  tx: Tx,
  projectId: number,
  { happened, now, newId, aheadMs }: OutcomeBatch,
): Promise<Applied> {
  const toldAt = now - aheadMs;
  const messageIds = [...new Set(happened.map(({ messageId }) => messageId))];
  const emails = await findEmails(tx, { projectId, messageIds });
  const wished = new Map<string, Outcome>();
  for (const one of happened) {
    const email = emails.get(one.messageId);
    const outcome = email && outcomeOf(one, email, { now, newId });
    if (outcome && !wished.has(outcomeKey(outcome))) wished.set(outcomeKey(outcome), outcome);
  }
  const given: Given = { tx, projectId, emails, now, toldAt, wished: [...wished.values()] };
  if (given.wished.length === 0) return { projectId, outcomes: [], emails, now, toldAt, notes: [] };
  if (!needsTurns(happened)) return recordEngagement(given);
  if (happened.some(isEngagement))
    throw new Error('opens and clicks are recorded apart from everything else');
  return recordRest(given);
}

type Given = {
  tx: Tx;
  projectId: number;
  emails: Map<string, OutcomeEmail>;
  now: number;
  toldAt: number;
  /** Each outcome once; some may be known already. */
  wished: Outcome[];
};

/**
 * Locks in the common order: suppressions, drafts, messages, and then the outcomes themselves. A repeated open lifts a suppression as well
 * as the first one.
 */
async function recordEngagement({ tx, projectId, emails, now, toldAt, wished }: Given): Promise<Applied> {
  await liftByLife(tx, projectId, { alive: wished.filter(isOfPerson), emails, now });
  const unknown = await lockUnknown(tx, wished, emails);
  const there = await holdEmails(tx, { projectId, messageIds: [...emails.keys()] });
  const outcomes = await insertNew(
    tx,
    wished.filter(({ messageId }) => there.has(messageId)),
  );
  await resolveUnknown(tx, { outcomes: wished, unknown, now });
  return { projectId, outcomes, emails, now, toldAt, notes: [] };
}

/** With both locks held, no other process records these outcomes for the project or erases a user at the same time. */
async function recordRest({ tx, projectId, emails, now, toldAt, wished }: Given): Promise<Applied> {
  await holdEmails(tx, { projectId, messageIds: [...emails.keys()] });
  const outcomes = await insertNew(tx, await withinReplies(tx, projectId, wished));
  const notes = await drawConsequences(tx, { projectId, emails, now, outcomes, said: wished });
  return { projectId, outcomes, emails, now, toldAt, notes };
}

/** How many replies to one email become outcomes. Further replies are stored without a webhook or event. */
const REPLIES_MAX = 100;

async function withinReplies(tx: Tx, projectId: number, wished: Outcome[]): Promise<Outcome[]> {
  const replied = wished.filter(({ type }) => type === 'email.replied');
  if (replied.length === 0) return wished;
  const ids = [...new Set(replied.map(({ messageId }) => messageId))];
  const counts = await countReplies(tx, projectId, ids);
  const known = await findKnown(tx, projectId, replied);
  return wished.filter((one) => {
    if (one.type !== 'email.replied') return true;
    if (known.has(outcomeKey(one))) return false;
    const count = (counts.get(one.messageId) ?? 0) + 1;
    counts.set(one.messageId, count);
    return count <= REPLIES_MAX;
  });
}

async function insertNew(tx: Tx, outcomes: Outcome[]): Promise<Outcome[]> {
  const inserted = await insertOutcomes(tx, outcomes);
  return outcomes.filter(({ id }) => inserted.has(id));
}

/**
 * Queues the webhooks and events of everything applied in a transaction, right before its commit: the alarms first, then the queue rows.
 */
export async function tellOutcomes(tx: Tx, applied: Applied[]): Promise<void> {
  const told = applied
    .map((one) => ({ ...one, outcomes: one.outcomes.filter(isCertain) }))
    .filter(({ outcomes }) => outcomes.length > 0)
    .toSorted((a, b) => a.projectId - b.projectId);
  if (told.length === 0) return;
  const emailOf = ({ emails }: Applied, { messageId }: Outcome): OutcomeEmail => {
    const email = emails.get(messageId);
    if (!email) throw new Error('an outcome of an email that was not found');
    return email;
  };
  await queueWebhooks(
    tx,
    told.flatMap((one) =>
      one.outcomes.map((outcome) => ({
        ...webhookOf(outcome, emailOf(one, outcome)),
        createdAt: one.toldAt,
      })),
    ),
  );
  await dueEarlier(
    tx,
    'webhooks',
    told.map(({ projectId, toldAt }) => ({ projectId, nextAt: new Date(toldAt) })),
  );
  for (const one of told) {
    const records = one.outcomes.filter(isOfPerson).map((outcome) => eventOf(outcome, emailOf(one, outcome)));
    if (records.length > 0)
      await acceptOwn(tx, { projectId: one.projectId, records, acceptedAt: new Date(one.toldAt) });
  }
}
