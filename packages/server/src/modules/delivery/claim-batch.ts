import { classifyReply, type ReportedOutcome, applyOutcomes, reportOutcomes } from '../outcomes/index.ts';
import { replyText } from '../../platform/mail/smtp-reply.ts';
import {
  writeDecisions,
  endRuns,
  wakeRuns,
  loadProjectModels,
  type Model,
  nextMoment,
} from '../rules/index.ts';
import { setNextChecks, type Draft, listDueDrafts, type DraftChange } from '../drafts/index.ts';
import {
  isAccepted,
  insertEmails as claimEmails,
  endEmails,
  upsertDomainLimits,
  keepBucket,
  takeFreeSendLock,
  writeMoves,
} from '../sending/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { lockTimer, setTimer } from '../../platform/locks/store.ts';
import { readProjectLock, withClockAhead, type ProjectLock } from '../../platform/locks/project-lock.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import type { ClaimedEmail } from './compose-email.ts';
import { decideBatch } from './decide-batch.ts';
import type { Blocked, DraftBatch, DraftBatchResult, Room, SendDeps } from './draft-batch.ts';
import { findSubmitted, type SubmittedEmail } from './email-rows.ts';
import { refill, type Throttle } from './gate/limits.ts';

/** `lateMs`: how long the first of the drafts had been due. `blocked`: what kept others from being claimed. */
export type ClaimedBatch = { emails: ClaimedEmail[]; drafts: number; lateMs: number; blocked: Blocked[] };

const BATCH_MAX = 500;
/** Read at least this many drafts, however few emails the throttle allows: drafts that only time changes need no token. */
const READ_MIN = 50;
const NOTHING: ClaimedBatch = { emails: [], drafts: 0, lateMs: 0, blocked: [] };
/** A worker that cannot reach a relay leaves the project to the other workers for this long. */
const BLOCKED_FOR_MS = 5_000;

/**
 * Claims due drafts of one project in the order in which they are due, in one transaction with the send lock. Each draft is evaluated again
 * and goes through the send checks. It is then claimed, or held with the reason. At most as many emails are claimed as their relays have room
 * for; the caller sends them after the commit.
 */
export function claimBatch(baseDeps: SendDeps, projectId: number, room: Room): Promise<ClaimedBatch> {
  return inSession(baseDeps.db, async (tx) => {
    const [sendLock, isOurs] = await Promise.all([takeFreeSendLock(tx, projectId), isAccepted(tx)]);
    if (!sendLock || !isOurs) return NOTHING;
    const projectLock = await readProjectLock(tx, projectId);
    const deps = withClockAhead(baseDeps, projectLock.aheadMs);
    const now = deps.db.clock.now();
    const current = (await deps.models.of(tx, [projectLock])).get(projectId);
    if (!current) return NOTHING;
    const { throttle } = current.project.settings;
    const { remaining, bucket } = refill(sendLock.bucket, throttle, now);
    // Drafts of a paused or suspended project stay as they are. Resuming it sets the alarm again.
    const isStopped = sendLock.isSuspended || current.project.settings.paused;
    const batchSize = Math.min(BATCH_MAX, Math.max(Math.min(remaining, room.most), READ_MIN));
    const limit = isStopped ? 0 : batchSize;
    const due = limit > 0 ? await listDueDrafts(tx, { projectId, now, limit }) : [];
    baseDeps.db.failpoint?.('send_claimed');
    const model = await withVersions({ tx, lock: projectLock, now }, current, due);
    const batch: DraftBatch = { tx, deps, projectId, model, now, room };
    const result = await decideBatch(batch, due, { bucket, remaining });
    const blocked = [...result.blocked.values()];
    // Drafts of a paused relay must not hide those of another relay behind them.
    if (due.length === limit) result.later.push(...blocked.flatMap((entry) => laterOf(entry, now)));
    const nextAt = nextAtOf(result, { throttle, now });
    await finish(batch, { result, nextAt, isStopped });
    baseDeps.db.failpoint?.('send_committed');
    const firstAt = Math.min(now, ...due.map(({ dueAt }) => dueAt ?? now));
    return { emails: result.emails, drafts: result.moved.length, lateMs: now - firstAt, blocked };
  });
}

/** Returns when the throttle, or a relay that accepts emails again, allows the next email; null: now. */
function nextAtOf(
  { bucket, moved, blocked }: DraftBatchResult,
  { throttle, now }: { throttle: Throttle | null; now: number },
): number | null {
  const after = refill(bucket, throttle, now);
  if (after.remaining < 1) return after.nextAt;
  return moved.length === 0 ? blockedUntil([...blocked.values()], now) : null;
}

function laterOf({ until, draftIds }: Blocked, now: number): { draftId: string; dueAt: number }[] {
  if (until === null) return [];
  const dueAt = Math.max(until, now + BLOCKED_FOR_MS);
  return draftIds.map((draftId) => ({ draftId, dueAt }));
}

/** Returns when to try again if every relay that has due drafts is paused; else null. */
function blockedUntil(blocked: Blocked[], now: number): number | null {
  const times = blocked.flatMap(({ until }) => until ?? []);
  if (times.length === 0 || times.length < blocked.length) return null;
  return Math.min(...times, now + BLOCKED_FOR_MS);
}

/** Loads older rule versions: a draft that is sent again may be of one that no run uses any more. */
async function withVersions(
  { tx, lock, now }: { tx: BatchTx; lock: ProjectLock; now: number },
  model: Model,
  due: Draft[],
): Promise<Model> {
  const older = due.filter(({ ruleId, version }) => !model.rules.version(ruleId, version));
  if (older.length === 0) return model;
  const loaded = await loadProjectModels(tx, [lock], { now, versions: older });
  return loaded.get(lock.projectId) ?? model;
}

/** `nextAt`: when the throttle allows the next email; null: now. */
type FinishInput = { result: DraftBatchResult; nextAt: number | null; isStopped: boolean };

async function finish(batch: DraftBatch, { result, nextAt, isStopped }: FinishInput): Promise<void> {
  const { tx, deps, projectId, now } = batch;
  const endedChanges = result.moved.filter(({ draft }) => draft.endedAt !== null && draft.resendOf === null);
  const expired = await findSubmitted(tx, projectId, expiredDraftIds(result));
  const [claimed] = await Promise.all([
    claimEmails(tx, result.messages),
    endEmails(tx, { at: now, ends: result.ends }),
    writeMoves(tx, result.moved),
    setNextChecks(tx, projectId, result.later),
    writeDecisions(tx, result.decisions),
    result.bucket ? keepBucket(tx, projectId, result.bucket) : undefined,
    result.domainLimits ? upsertDomainLimits(tx, result.domainLimits.changedRows()) : undefined,
  ]);
  // A draft has one email forever, so a second claim rolls everything back.
  if (claimed.size !== result.messages.length)
    throw new Error('a draft was claimed that has an email already');
  for (const email of result.emails) Object.assign(email, claimed.get(email.draftId));
  await endRunsWith(tx, endedChanges, { projectId, now });
  const tried = [...expired.values()].filter(({ attempts }) => attempts > 0);
  const outcomes = tried.map((message) => bounceOf(projectId, message, now));
  const applied = await applyOutcomes(tx, projectId, {
    outcomes,
    now,
    newId: deps.newId,
    aheadMs: deps.db.aheadMs,
  });
  const awake = await wakeRuns(tx, { projectId, ids: runsOf(endedChanges), at: now });
  if (awake.length > 0) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  await lockTimer(tx, projectId, 'send');
  const next = isStopped ? null : await nextMoment(tx, projectId, 'send');
  // An overdue time is kept, because by it the project that is overdue longest comes first.
  const soonest = nextAt ?? (next && next.getTime() > now ? now + togetherMsOf(batch) : -Infinity);
  const alarm = next && new Date(Math.max(next.getTime(), soonest));
  await setTimer(tx, { projectId, work: 'send', nextAt: alarm });
  await reportOutcomes(tx, [applied]);
  deps.db.failpoint?.('send_committing');
  await tx.commit();
}

/** Ends the runs of ended drafts, for the reasons that end a run too. */
async function endRunsWith(
  tx: BatchTx,
  endedChanges: DraftChange[],
  { projectId, now }: { projectId: number; now: number },
): Promise<void> {
  for (const reason of ['suppressed', 'exit_condition'] as const) {
    const ids = runsOf(endedChanges.filter(({ draft }) => draft.reason === reason));
    await endRuns(tx, { projectId, ids, reason, at: now });
  }
}

function runsOf(changes: DraftChange[]): string[] {
  return changes.flatMap(({ draft }) => draft.runId ?? []);
}

/** Returns 0 for a sandbox: each email is sent at its exact time, because the test clock moves from one due time to the next. */
function togetherMsOf({ model, deps }: DraftBatch): number {
  return model.project.livemode ? deps.togetherMs : 0;
}

/** Returns the drafts that the recipient's server or the relay deferred until they expired. */
function expiredDraftIds({ ends }: DraftBatchResult): string[] {
  return ends
    .filter(({ sendResult }) => 'reason' in sendResult && sendResult.reason === 'expired')
    .map(({ draftId }) => draftId);
}

/**
 * Returns the bounce of an email that was deferred until it expired, by the last reply. It ends nothing else, so the send lock is enough.
 */
function bounceOf(
  projectId: number,
  { id: emailId, reason, reply }: SubmittedEmail,
  now: number,
): ReportedOutcome {
  const classification = classifyReply({ stage: 'rcpt', code: 450, reply: reply ?? '' });
  const bounceClass = reason === 'deferred' ? classification.class : 'infrastructure';
  return {
    projectId,
    emailId,
    occurredAt: now,
    type: 'email.bounced',
    bounceClass,
    status: classification.status,
    reason: replyText(reply ?? reason ?? ''),
    source: 'smtp',
    verified: true,
  };
}
