import { replyText } from '../../platform/mail/smtp-reply.ts';
import type { NewId } from '../../platform/ids.ts';
import {
  type Draft,
  isRefused,
  lockDrafts,
  type DraftActionResult,
  type DraftChange,
  writeTransitions,
} from '../drafts/index.ts';
import {
  type ReportedOutcome,
  type AppliedOutcomes,
  applyOutcomes,
  reportOutcomes,
  resolveLost,
} from '../outcomes/index.ts';
import { endEmails, takeSendLock } from '../sending/index.ts';
import { wakeRuns } from '../rules/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { readProjectLock, takeProjectLock, withClockAhead } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSession } from '../../platform/db/session-transactions.ts';
import { failureText } from '../../platform/mail/send-result.ts';
import { applyRefusals } from './apply-refusals.ts';
import type { EmailResult } from './transport.ts';
import { findSubmitted, type SubmittedEmail } from './email-rows.ts';
import { finish, returnDraft, retry, holdWhileSending } from './send-draft.ts';

/** The delays between attempts; the last one repeats. */
const BACKOFF_MS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * 60_000);
/** The first returns are retried at once. After repeated returns, the delay grows. */
const RETURN_DELAYS_MS = [0, 0, 1, 5, 15, 30, 60].map((minutes) => minutes * 60_000);
/** While a relay is unreachable, only one email is tried at a time, so few emails wait for this delay. */
const RELAY_AGAIN_MS = 5 * 60_000;
/** How long an email is retried. */
const TRIED_FOR_MS = 24 * 3_600_000;

export type RecordingDeps = { db: Database; newId: NewId };

/** A reply that a project got for so many recipients that it is not about them. */
export type RelayFailure = { projectId: number; text: string };

/** `notes`: consequences of refusals that an operator should see. */
export type RecordedResults = { failures: RelayFailure[]; notes: AppliedOutcomes['notes'] };

/**
 * Records the results of sent emails in the second commit, and continues their runs. Only the current claim counts: if it was given up as
 * lost and the email was claimed again, the epoch differs. A permanent refusal is recorded as an outcome, with all its consequences.
 */
export async function recordResults(
  { db, newId }: RecordingDeps,
  results: EmailResult[],
): Promise<RecordedResults> {
  const byProject = [...Map.groupBy(results, ({ email }) => email.projectId)];
  // Projects are always locked in id order.
  byProject.sort(([a], [b]) => a - b);
  return inSession(db, async (tx) => {
    await takeBounceLocks(tx, byProject);
    const failures: RelayFailure[] = [];
    const applied: AppliedOutcomes[] = [];
    for (const [projectId, projectResults] of byProject) {
      const aheadMs = projectResults[0]?.email.aheadMs ?? (await readProjectLock(tx, projectId)).aheadMs;
      const timedDeps = withClockAhead({ db, newId }, aheadMs);
      const record = await recordOfProject(tx, timedDeps, { projectId, results: projectResults });
      failures.push(...record.failures.map((text) => ({ projectId, text })));
      if (record.applied) applied.push(record.applied);
    }
    await reportOutcomes(tx, applied);
    db.failpoint?.('result_committing');
    await tx.commit();
    db.failpoint?.('result_committed');
    return { failures, notes: applied.flatMap(({ notes }) => notes) };
  });
}

/**
 * Takes both locks of projects with a hard bounce, because that ends everything else under way to the address. They come before any other
 * lock of any project.
 */
async function takeBounceLocks(tx: Tx, byProject: [number, EmailResult[]][]): Promise<void> {
  for (const [projectId, projectResults] of byProject) {
    if (
      !projectResults.some(
        ({ sendResult }) => sendResult.result === 'failed' && sendResult.bounce?.class === 'hard',
      )
    )
      continue;
    await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
  }
}

type ProjectResults = { projectId: number; results: EmailResult[] };
type ProjectRecord = { failures: string[]; applied: AppliedOutcomes | null };

async function recordOfProject(
  tx: Tx,
  { db, newId }: RecordingDeps,
  { projectId, results: emailResults }: ProjectResults,
): Promise<ProjectRecord> {
  const now = db.clock.now();
  const unresolved = emailResults.filter(
    ({ sendResult: { result } }) => result !== 'sent' && result !== 'unknown',
  );
  const messages = await findSubmitted(
    tx,
    projectId,
    unresolved.map(({ email }) => email.draftId),
  );
  // Locks suppressions, drafts and emails, in the same order as suppressing a user does.
  const { results, failures } = await applyRefusals(tx, projectId, { results: emailResults, messages, now });
  const ids = emailResults.map(({ email }) => email.draftId);
  const drafts = new Map((await lockDrafts(tx, projectId, ids)).map((draft) => [draft.id, draft]));
  const decisions = results.map(({ email, sendResult }) => {
    const draft = drafts.get(email.draftId);
    const againAt = againAtOf({ email, sendResult }, { draft, attempt: messages.get(email.draftId), now });
    const wasTried = (messages.get(email.draftId)?.attempts ?? 0) > 0;
    return { email, sendResult, draft, againAt, wasTried };
  });
  const ends = decisions.map(({ email: { draftId, epoch }, sendResult, againAt }) => {
    // The email of a withheld draft waits until the draft is corrected.
    const isAgain = againAt !== null || sendResult.result === 'withheld';
    return { projectId, draftId, epoch, sendResult, isAgain, isAskable: true as const };
  });
  const endedIds = await endEmails(tx, { at: now, ends });
  const moved = decisions
    .filter(({ email }) => endedIds.has(email.draftId))
    .flatMap((decision) => draftChanges(decision, now));
  await writeTransitions(tx, moved);
  await resolveLost(tx, { projectId, drafts: moved.map(({ draft }) => draft), now });
  const outcomes = decisions
    .filter(({ email }) => endedIds.has(email.draftId))
    .flatMap((decision) => bounceOf(decision, messages.get(decision.email.draftId), now) ?? []);
  const input = { outcomes, now, newId, aheadMs: db.aheadMs };
  const applied = outcomes.length > 0 ? await applyOutcomes(tx, projectId, input) : null;
  const endedChanges = moved.filter(({ draft }) => draft.endedAt !== null && draft.resendOf === null);
  const awake = await wakeRuns(tx, {
    projectId,
    ids: endedChanges.flatMap(({ draft }) => draft.runId ?? []),
    at: now,
  });
  if (awake.length > 0) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  const due = moved.flatMap(({ draft }) => draft.dueAt ?? []);
  if (due.length > 0) db.failpoint?.('result_rescheduled');
  if (due.length > 0) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(Math.min(...due)) }]);
  return { failures, applied };
}

/** Returns the bounce of an email that was refused permanently, or deferred until its last attempt. */
function bounceOf(
  { email: { projectId }, sendResult, againAt }: RetryDecision,
  message: SubmittedEmail | undefined,
  now: number,
): ReportedOutcome | null {
  if (!message || againAt !== null || (sendResult.result !== 'failed' && sendResult.result !== 'deferred'))
    return null;
  // An email that failed before it reached a server was not refused.
  if (sendResult.result === 'failed' && !sendResult.bounce) return null;
  // If the relay itself rejected the email until it expired, that says nothing about the recipient.
  const isRelayFault = sendResult.result === 'deferred' && sendResult.isRelayFault === true;
  const bounce = isRelayFault ? undefined : sendResult.bounce;
  const { class: bounceClass, status } = bounce ?? { class: 'infrastructure', status: null };
  return {
    projectId,
    emailId: message.id,
    occurredAt: now,
    type: 'email.bounced',
    bounceClass,
    status,
    reason: replyText(failureText(sendResult)),
    source: 'smtp',
    verified: true,
  };
}

type Attempt = Pick<SubmittedEmail, 'attempts' | 'firstAt'>;
/** `wasTried`: the email was handed to the relay before, in this claim or an earlier one. */
type RetryDecision = EmailResult & { draft: Draft | undefined; againAt: number | null; wasTried: boolean };

/** Returns when the email is tried again; null: never, because of the reply or because the time for retries is over. */
function againAtOf(
  { email: { epoch }, sendResult }: EmailResult,
  { draft, attempt, now }: { draft: Draft | undefined; attempt: Attempt | undefined; now: number },
): number | null {
  if (sendResult.result === 'returned') return now + returnDelayMs(epoch, attempt);
  if (sendResult.result !== 'deferred') return null;
  if (sendResult.isRelayFault === true) return retryBeforeExpiry(draft, now + RELAY_AGAIN_MS);
  const { attempts, firstAt } = attempt ?? { attempts: 1, firstAt: now };
  const at = now + (BACKOFF_MS[Math.max(0, attempts - 1)] ?? BACKOFF_MS.at(-1) ?? 0);
  const until = Math.min((firstAt ?? now) + TRIED_FOR_MS, draft?.expiresAt ?? Infinity);
  return at < until ? at : null;
}

/** The delay by the number of claims that were returned. A withdrawn claim counts twice. */
function returnDelayMs(epoch: number, attempt: Attempt | undefined): number {
  const claims = epoch - (attempt?.attempts ?? 0);
  return RETURN_DELAYS_MS[Math.max(0, claims - 1)] ?? RETURN_DELAYS_MS.at(-1) ?? 0;
}

/** Retries until the draft expires: an unreachable relay is not a refusal, however long it lasts. */
function retryBeforeExpiry(draft: Draft | undefined, at: number): number | null {
  return at < (draft?.expiresAt ?? Infinity) ? at : null;
}

/** Returns no move if the draft was already given up as lost. */
function draftChanges(decision: RetryDecision, now: number): DraftChange[] {
  const decided = decision.draft && draftChange(decision.draft, decision, now);
  return !decided || isRefused(decided) ? [] : [decided];
}

function draftChange(
  draft: Draft,
  { sendResult, againAt, wasTried }: RetryDecision,
  now: number,
): DraftActionResult {
  if (sendResult.result === 'withheld')
    return holdWhileSending(draft, { now, detail: { why: sendResult.reason } });
  const detail = 'reply' in sendResult && sendResult.reply !== undefined ? { reply: sendResult.reply } : {};
  if (againAt === null) return finish(draft, sendResult, { now, detail });
  const again = sendResult.result === 'returned' && !wasTried ? returnDraft : retry;
  const againDetail = { ...detail, again_at: new Date(againAt).toISOString() };
  return again(draft, { at: againAt, now, detail: againDetail });
}
