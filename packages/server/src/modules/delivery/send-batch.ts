import { classifyReply, type ReportedOutcome, applyOutcomes, tellOutcomes } from '../outcomes/index.ts';
import { replyText } from '../../platform/mail/smtp-reply.ts';
import {
  writeDecisions,
  endRuns,
  wakeRuns,
  loadProjectModels,
  type Model,
  nextMoment,
} from '../rules/index.ts';
import { askLater, type Draft, listDueDrafts, type DraftChange } from '../drafts/index.ts';
import {
  isAccepted,
  insertMessages as claimMessages,
  endMessages,
  upsertNarrow,
  findHanded,
  type HandedMessage,
  keepBucket,
  takeFreeSendTurn,
  refill,
  writeMoves,
} from '../sending/index.ts';
import { dueEarlier, dueNext, holdDue } from '../../platform/locks/timers.ts';
import { readTurn, timed, type Turn } from '../../platform/locks/project-lock.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import type { ClaimedEmail } from './compose-email.ts';
import { decideBatch } from './decide-batch.ts';
import type { SendDeps, DraftBatch, DraftBatchResult } from './draft-batch.ts';

/** `lateMs`: how long the first of the drafts had been due. */
export type SendBatch = { emails: ClaimedEmail[]; drafts: number; lateMs: number };

const BATCH_MAX = 500;
/** Read at least this many drafts, however few emails the throttle allows: drafts that only time changes need no token. */
const LOOKED_AT_MIN = 50;
const NOTHING: SendBatch = { emails: [], drafts: 0, lateMs: 0 };

/**
 * Claims due drafts of one project in the order in which they are due, in one transaction with the send lock. Each draft is evaluated again
 * and goes through the send checks. It is then claimed, or held with the reason. At most `room` emails are claimed; the caller sends them
 * after the commit.
 */
export function claimBatch(given: SendDeps, projectId: number, room: number): Promise<SendBatch> {
  return inSession(given.db, async (tx) => {
    const [turn, isOurs] = await Promise.all([takeFreeSendTurn(tx, projectId), isAccepted(tx)]);
    if (!turn || !isOurs) return NOTHING;
    const digestTurn = await readTurn(tx, projectId);
    const deps = timed(given, digestTurn.aheadMs);
    const now = deps.db.clock.now();
    const known = (await deps.models.of(tx, [digestTurn])).get(projectId);
    if (!known) return NOTHING;
    const { throttle } = known.project.settings;
    const { left, bucket } = refill(turn.bucket, throttle, now);
    // Drafts of a paused or suspended project stay as they are. Resuming it sets the alarm again.
    const isStill = turn.isSuspended || known.project.settings.paused;
    const wanted = Math.min(BATCH_MAX, Math.max(Math.min(left, room), LOOKED_AT_MIN));
    const limit = isStill ? 0 : wanted;
    const due = limit > 0 ? await listDueDrafts(tx, { projectId, now, limit }) : [];
    given.db.reach?.('send_claimed');
    const model = await withVersions({ tx, turn: digestTurn, now }, known, due);
    const batch: DraftBatch = { tx, deps, projectId, model, now, room };
    const done = await decideBatch(batch, due, { bucket, left });
    const after = refill(done.bucket, throttle, now);
    await finish(batch, { done, nextAt: after.left < 1 ? after.nextAt : null, isStill });
    given.db.reach?.('send_committed');
    const firstAt = Math.min(now, ...due.map(({ dueAt }) => dueAt ?? now));
    return { emails: done.emails, drafts: done.moved.length, lateMs: now - firstAt };
  });
}

/** Loads older rule versions: a draft that is sent again may be of one that no run uses any more. */
async function withVersions(
  { tx, turn, now }: { tx: BatchTx; turn: Turn; now: number },
  model: Model,
  due: Draft[],
): Promise<Model> {
  const older = due.filter(({ ruleId, version }) => !model.rules.version(ruleId, version));
  if (older.length === 0) return model;
  const loaded = await loadProjectModels(tx, [turn], { now, versions: older });
  return loaded.get(turn.projectId) ?? model;
}

/** `nextAt`: when the throttle allows the next email; null: now. */
type Finishing = { done: DraftBatchResult; nextAt: number | null; isStill: boolean };

async function finish(batch: DraftBatch, { done, nextAt, isStill }: Finishing): Promise<void> {
  const { tx, deps, projectId, now } = batch;
  const over = done.moved.filter(({ draft }) => draft.endedAt !== null && draft.resendOf === null);
  const putOff = await findHanded(tx, projectId, gaveUpOn(done));
  const [claimed] = await Promise.all([
    claimMessages(tx, done.messages),
    endMessages(tx, { at: now, ends: done.ends }),
    writeMoves(tx, done.moved),
    askLater(tx, projectId, done.later),
    writeDecisions(tx, done.decisions),
    done.bucket ? keepBucket(tx, projectId, done.bucket) : undefined,
    done.narrow ? upsertNarrow(tx, done.narrow.taken()) : undefined,
  ]);
  // A draft has one message forever, so a second claim rolls everything back.
  if (claimed.size !== done.messages.length)
    throw new Error('a draft was claimed that has a message already');
  for (const email of done.emails) Object.assign(email, claimed.get(email.draftId));
  await endRunsWith(tx, over, { projectId, now });
  const tried = [...putOff.values()].filter(({ attempts }) => attempts > 0);
  const happened = tried.map((message) => bounceOf(projectId, message, now));
  const applied = await applyOutcomes(tx, projectId, {
    happened,
    now,
    newId: deps.newId,
    aheadMs: deps.db.aheadMs,
  });
  const awake = await wakeRuns(tx, { projectId, ids: runsOf(over), at: now });
  if (awake.length > 0) await dueEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  await holdDue(tx, projectId, 'send');
  const next = isStill ? null : await nextMoment(tx, projectId, 'send');
  // An overdue time is kept, because by it the project that is overdue longest comes first.
  const soonest = nextAt ?? (next && next.getTime() > now ? now + togetherMsOf(batch) : -Infinity);
  const alarm = next && new Date(Math.max(next.getTime(), soonest));
  await dueNext(tx, { projectId, work: 'send', nextAt: alarm });
  await tellOutcomes(tx, [applied]);
  deps.db.reach?.('send_committing');
  await tx.commit();
}

/** Ends the runs of ended drafts, for the reasons that end a run too. */
async function endRunsWith(
  tx: BatchTx,
  over: DraftChange[],
  { projectId, now }: { projectId: number; now: number },
): Promise<void> {
  for (const reason of ['suppressed', 'exit_condition'] as const) {
    const ids = runsOf(over.filter(({ draft }) => draft.reason === reason));
    await endRuns(tx, { projectId, ids, reason, at: now });
  }
}

function runsOf(some: DraftChange[]): string[] {
  return some.flatMap(({ draft }) => draft.runId ?? []);
}

/** Returns 0 for a sandbox: each email is sent at its exact time, because the test clock moves from one due time to the next. */
function togetherMsOf({ model, deps }: DraftBatch): number {
  return model.project.livemode ? deps.togetherMs : 0;
}

/** Returns the drafts that the recipient's server or the relay deferred until they expired. */
function gaveUpOn({ ends }: DraftBatchResult): string[] {
  return ends.filter(({ reason }) => reason === 'expired').map(({ draftId }) => draftId);
}

/**
 * Returns the bounce of an email that was deferred until it expired, by the last reply. It ends nothing else, so the send lock is enough.
 */
function bounceOf(
  projectId: number,
  { id: messageId, reason, reply }: HandedMessage,
  now: number,
): ReportedOutcome {
  const said = classifyReply({ stage: 'rcpt', code: 450, reply: reply ?? '' });
  const bounceClass = reason === 'deferred' ? said.class : 'infrastructure';
  return {
    projectId,
    messageId,
    occurredAt: now,
    type: 'email.bounced',
    bounceClass,
    status: said.status,
    reason: replyText(reply ?? reason ?? ''),
    source: 'smtp',
    verified: true,
  };
}
