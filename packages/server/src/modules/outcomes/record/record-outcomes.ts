/**
 * Records outcomes and their consequences in one commit: the outcome, its webhook, its event for rules and audiences, and whatever it ends.
 * Every outcome is written once; reporting it again changes nothing.
 *
 * Opens and clicks arrive in large numbers and end nothing, so they take neither lock. Everything else may end runs and drafts, and is
 * recorded with both the project lock and the send lock held.
 */

import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import {
  countReplies,
  findExistingKeys,
  findEmails,
  lockEmails,
  outcomeKey,
  type OutcomeEmail,
} from '../reads.ts';
import type { ReportedOutcome, Outcome } from '../outcome.ts';
import { insertOutcomes } from '../store.ts';
import { acceptOutcomeEvents } from '../accept-own-event.ts';
import { takeSendLock } from '../../sending/index.ts';
import { setTimersEarlier } from '../../../platform/locks/timers.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import { insertWebhooks } from '../../webhooks/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { inSession } from '../../../platform/db/session-transactions.ts';
import { applyConsequences, liftBounceSuppressions, type Note } from './consequences.ts';
import { eventOf, isCertain, isOfPerson, outcomeOf, webhookOf } from './outcome-of.ts';
import { lockUnknown, resolveUnknown } from './resolve-unknown.ts';

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
export async function recordOutcomes(deps: RecordDeps, outcomes: ReportedOutcome[]): Promise<Outcome[]> {
  const recorded: Outcome[] = [];
  const byProject = [...Map.groupBy(outcomes, ({ projectId }) => projectId)].toSorted(([a], [b]) => a - b);
  for (const [projectId, group] of byProject) {
    for (const part of [group.filter(isEngagement), group.filter((outcome) => !isEngagement(outcome))])
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
  outcomes: ReportedOutcome[],
): Promise<Outcome[]> {
  for (let tried = 1; ; tried += 1) {
    try {
      const applied = await recordOnce(deps, projectId, outcomes);
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
  outcomes: ReportedOutcome[],
): Promise<AppliedOutcomes> {
  return inSession(db, async (tx) => {
    if (needsLocks(outcomes)) {
      await takeProjectLock(tx, projectId);
      await takeSendLock(tx, projectId);
    }
    const applied = await applyOutcomes(tx, projectId, {
      outcomes,
      now: db.clock.now(),
      newId,
      aheadMs: db.aheadMs,
    });
    await reportOutcomes(tx, [applied]);
    db.failpoint?.('outcome_committing');
    await tx.commit();
    db.failpoint?.('outcome_committed');
    return applied;
  });
}

/**
 * Records outcomes of one project in the caller's transaction. If `needsLocks` is true, the caller has taken `takeProjectLock` and then
 * `takeSendLock` before anything else. The queue row is locked last, so that the commit follows at once. Opens and clicks are never passed
 * together with other outcomes.
 */
export async function recordOutcomesIn(tx: Tx, projectId: number, batch: OutcomeBatch): Promise<Outcome[]> {
  const applied = await applyOutcomes(tx, projectId, batch);
  await reportOutcomes(tx, [applied]);
  return applied.outcomes;
}

/** Returns true if any of these may end a run or a draft. */
function needsLocks(outcomes: readonly Pick<ReportedOutcome, 'type'>[]): boolean {
  return outcomes.some((outcome) => !isEngagement(outcome));
}

function isEngagement({ type }: Pick<ReportedOutcome, 'type'>): boolean {
  return type === 'email.opened' || type === 'email.clicked';
}

/** The result of `applyOutcomes` in a transaction; `reportOutcomes` does the rest. `notes` are logged after the commit. */
export type AppliedOutcomes = {
  projectId: number;
  outcomes: Outcome[];
  emails: Map<string, OutcomeEmail>;
  now: number;
  /** When the webhooks and events become due, in real time. */
  reportedAt: number;
  notes: Note[];
};

/** `now` is the time of the project, whose clock is `aheadMs` ahead. */
export type OutcomeBatch = { outcomes: ReportedOutcome[]; now: number; newId: NewId; aheadMs: number };

/** Does everything except for the rows that are locked last, for callers that have more to do in the same transaction. */
export async function applyOutcomes(
  tx: Tx,
  projectId: number,
  { outcomes, now, newId, aheadMs }: OutcomeBatch,
): Promise<AppliedOutcomes> {
  const reportedAt = now - aheadMs;
  const emailIds = [...new Set(outcomes.map(({ emailId }) => emailId))];
  const emails = await findEmails(tx, { projectId, emailIds });
  const candidates = new Map<string, Outcome>();
  for (const report of outcomes) {
    const email = emails.get(report.emailId);
    const outcome = email && outcomeOf(report, email, { now, newId });
    if (outcome && !candidates.has(outcomeKey(outcome))) candidates.set(outcomeKey(outcome), outcome);
  }
  const input: RecordInput = { tx, projectId, emails, now, reportedAt, candidates: [...candidates.values()] };
  if (input.candidates.length === 0) return { projectId, outcomes: [], emails, now, reportedAt, notes: [] };
  if (!needsLocks(outcomes)) return recordEngagement(input);
  if (outcomes.some(isEngagement))
    throw new Error('opens and clicks are recorded apart from everything else');
  return recordOthers(input);
}

type RecordInput = {
  tx: Tx;
  projectId: number;
  emails: Map<string, OutcomeEmail>;
  now: number;
  reportedAt: number;
  /** Each outcome once; some may be known already. */
  candidates: Outcome[];
};

/**
 * Locks in the common order: suppressions, drafts, messages, and then the outcomes themselves. A repeated open lifts a suppression as well
 * as the first one.
 */
async function recordEngagement({
  tx,
  projectId,
  emails,
  now,
  reportedAt,
  candidates,
}: RecordInput): Promise<AppliedOutcomes> {
  await liftBounceSuppressions(tx, projectId, { engaged: candidates.filter(isOfPerson), emails, now });
  const unknown = await lockUnknown(tx, candidates, emails);
  const existing = await lockEmails(tx, { projectId, emailIds: [...emails.keys()] });
  const outcomes = await insertNew(
    tx,
    candidates.filter(({ emailId }) => existing.has(emailId)),
  );
  await resolveUnknown(tx, { outcomes: candidates, unknown, now });
  return { projectId, outcomes, emails, now, reportedAt, notes: [] };
}

/** With both locks held, no other process records these outcomes for the project or erases a user at the same time. */
async function recordOthers({
  tx,
  projectId,
  emails,
  now,
  reportedAt,
  candidates,
}: RecordInput): Promise<AppliedOutcomes> {
  await lockEmails(tx, { projectId, emailIds: [...emails.keys()] });
  const outcomes = await insertNew(tx, await withinReplies(tx, projectId, candidates));
  const notes = await applyConsequences(tx, { projectId, emails, now, outcomes, reported: candidates });
  return { projectId, outcomes, emails, now, reportedAt, notes };
}

/** How many replies to one email become outcomes. Further replies are stored without a webhook or event. */
const REPLIES_MAX = 100;

async function withinReplies(tx: Tx, projectId: number, candidates: Outcome[]): Promise<Outcome[]> {
  const replied = candidates.filter(({ type }) => type === 'email.replied');
  if (replied.length === 0) return candidates;
  const ids = [...new Set(replied.map(({ emailId }) => emailId))];
  const counts = await countReplies(tx, projectId, ids);
  const existingKeys = await findExistingKeys(tx, projectId, replied);
  return candidates.filter((outcome) => {
    if (outcome.type !== 'email.replied') return true;
    if (existingKeys.has(outcomeKey(outcome))) return false;
    const count = (counts.get(outcome.emailId) ?? 0) + 1;
    counts.set(outcome.emailId, count);
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
export async function reportOutcomes(tx: Tx, applied: AppliedOutcomes[]): Promise<void> {
  const reported = applied
    .map((entry) => ({ ...entry, outcomes: entry.outcomes.filter(isCertain) }))
    .filter(({ outcomes }) => outcomes.length > 0)
    .toSorted((a, b) => a.projectId - b.projectId);
  if (reported.length === 0) return;
  const outcomeEmail = ({ emails }: AppliedOutcomes, { emailId }: Outcome): OutcomeEmail => {
    const email = emails.get(emailId);
    if (!email) throw new Error('an outcome of an email that was not found');
    return email;
  };
  await insertWebhooks(
    tx,
    reported.flatMap((entry) =>
      entry.outcomes.map((outcome) => ({
        ...webhookOf(outcome, outcomeEmail(entry, outcome)),
        createdAt: entry.reportedAt,
      })),
    ),
  );
  await setTimersEarlier(
    tx,
    'webhooks',
    reported.map(({ projectId, reportedAt }) => ({ projectId, nextAt: new Date(reportedAt) })),
  );
  for (const entry of reported) {
    const records = entry.outcomes
      .filter(isOfPerson)
      .map((outcome) => eventOf(outcome, outcomeEmail(entry, outcome)));
    if (records.length > 0)
      await acceptOutcomeEvents(tx, {
        projectId: entry.projectId,
        records,
        acceptedAt: new Date(entry.reportedAt),
      });
  }
}
