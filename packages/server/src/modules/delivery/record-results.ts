import { replyText } from '../../platform/mail/smtp-reply.ts';
import type { NewId } from '../../platform/ids.ts';
import {
  type Draft,
  finish,
  returnDraft,
  retry,
  holdWhileSending,
  isRefused,
  lockDrafts,
  type DraftChange,
  writeMoved,
} from '../drafts/index.ts';
import {
  type ReportedOutcome,
  type Applied,
  applyOutcomes,
  tellOutcomes,
  resolveLost,
} from '../outcomes/index.ts';
import {
  endMessages,
  findHanded,
  type HandedMessage,
  type MessageEnd,
  takeSendTurn,
} from '../sending/index.ts';
import { wakeRuns } from '../rules/index.ts';
import { dueEarlier } from '../../platform/locks/timers.ts';
import { readTurn, takeTurn, timed } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSession } from '../../platform/db/session-transactions.ts';
import { heedRefusals, type EmailResult } from './apply-refusals.ts';

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
export type RelayTrouble = { projectId: number; text: string };

/** `notes`: consequences of refusals that an operator should see. */
export type RecordedResults = { troubles: RelayTrouble[]; notes: Applied['notes'] };

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
    await takeTurns(tx, byProject);
    const troubles: RelayTrouble[] = [];
    const applied: Applied[] = [];
    for (const [projectId, some] of byProject) {
      const aheadMs = some[0]?.email.aheadMs ?? (await readTurn(tx, projectId)).aheadMs;
      const own = timed({ db, newId }, aheadMs);
      const done = await recordOfProject(tx, own, { projectId, results: some });
      troubles.push(...done.troubles.map((text) => ({ projectId, text })));
      if (done.applied) applied.push(done.applied);
    }
    await tellOutcomes(tx, applied);
    db.reach?.('result_committing');
    await tx.commit();
    db.reach?.('result_committed');
    return { troubles, notes: applied.flatMap(({ notes }) => notes) };
  });
}

/**
 * Takes both locks of projects with a hard bounce, because that ends everything else under way to the address. They come before any other
 * lock of any project.
 */
async function takeTurns(tx: Tx, byProject: [number, EmailResult[]][]): Promise<void> {
  for (const [projectId, some] of byProject) {
    if (!some.some(({ handed }) => handed.result === 'failed' && handed.bounce?.class === 'hard')) continue;
    await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
  }
}

type Some = { projectId: number; results: EmailResult[] };
type Recorded = { troubles: string[]; applied: Applied | null };

async function recordOfProject(
  tx: Tx,
  { db, newId }: RecordingDeps,
  { projectId, results: given }: Some,
): Promise<Recorded> {
  const now = db.clock.now();
  const puzzling = given.filter(({ handed: { result } }) => result !== 'sent' && result !== 'unknown');
  const messages = await findHanded(
    tx,
    projectId,
    puzzling.map(({ email }) => email.draftId),
  );
  // Locks suppressions, drafts and messages, in the same order as suppressing a user does.
  const { results, troubles } = await heedRefusals(tx, projectId, { results: given, messages, now });
  const ids = given.map(({ email }) => email.draftId);
  const drafts = new Map((await lockDrafts(tx, projectId, ids)).map((draft) => [draft.id, draft]));
  const said = results.map(({ email, handed }) => {
    const draft = drafts.get(email.draftId);
    const againAt = againAtOf({ email, handed }, { draft, attempt: messages.get(email.draftId), now });
    const wasTried = (messages.get(email.draftId)?.attempts ?? 0) > 0;
    return { email, handed, draft, againAt, wasTried };
  });
  const ours = await endMessages(tx, { at: now, ends: said.map(endOf) });
  const moved = said.filter(({ email }) => ours.has(email.draftId)).flatMap((one) => movedBy(one, now));
  await writeMoved(tx, moved);
  await resolveLost(tx, { projectId, drafts: moved.map(({ draft }) => draft), now });
  const happened = said
    .filter(({ email }) => ours.has(email.draftId))
    .flatMap((one) => bounceOf(one, messages.get(one.email.draftId), now) ?? []);
  const telling = { happened, now, newId, aheadMs: db.aheadMs };
  const applied = happened.length > 0 ? await applyOutcomes(tx, projectId, telling) : null;
  const over = moved.filter(({ draft }) => draft.endedAt !== null && draft.resendOf === null);
  const awake = await wakeRuns(tx, {
    projectId,
    ids: over.flatMap(({ draft }) => draft.runId ?? []),
    at: now,
  });
  if (awake.length > 0) await dueEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  const due = moved.flatMap(({ draft }) => draft.dueAt ?? []);
  if (due.length > 0) db.reach?.('result_rescheduled');
  if (due.length > 0) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(Math.min(...due)) }]);
  return { troubles, applied };
}

/** Returns the bounce of an email that was refused permanently, or deferred until its last attempt. */
function bounceOf(
  { email: { projectId }, handed, againAt }: Said,
  message: HandedMessage | undefined,
  now: number,
): ReportedOutcome | null {
  if (!message || againAt !== null || (handed.result !== 'failed' && handed.result !== 'deferred'))
    return null;
  // An email that failed before it reached a server was not refused.
  if (handed.result === 'failed' && !handed.bounce) return null;
  // If the relay itself rejected the email until it expired, that says nothing about the recipient.
  const isRelays = handed.result === 'deferred' && handed.isRelays === true;
  const said = isRelays ? undefined : handed.bounce;
  const { class: bounceClass, status } = said ?? { class: 'infrastructure', status: null };
  return {
    projectId,
    messageId: message.id,
    occurredAt: now,
    type: 'email.bounced',
    bounceClass,
    status,
    reason: replyText(handed.reply ?? handed.reason),
    source: 'smtp',
    verified: true,
  };
}

type Attempt = Pick<HandedMessage, 'attempts' | 'firstAt'>;
/** `wasTried`: the email was handed to the relay before, in this claim or an earlier one. */
type Said = EmailResult & { draft: Draft | undefined; againAt: number | null; wasTried: boolean };

/** Returns when the email is tried again; null: never, because of the reply or because the time for retries is over. */
function againAtOf(
  { email: { epoch }, handed }: EmailResult,
  { draft, attempt, now }: { draft: Draft | undefined; attempt: Attempt | undefined; now: number },
): number | null {
  if (handed.result === 'returned') return now + returnDelayMs(epoch, attempt);
  if (handed.result !== 'deferred') return null;
  if (handed.isRelays === true) return isWorthIt(draft, now + RELAY_AGAIN_MS);
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
function isWorthIt(draft: Draft | undefined, at: number): number | null {
  return at < (draft?.expiresAt ?? Infinity) ? at : null;
}

function endOf({ email, handed, againAt }: Said): MessageEnd {
  const { projectId, draftId, epoch } = email;
  // The message of a withheld draft waits until the draft is corrected.
  const isAgain = againAt !== null || handed.result === 'withheld';
  return {
    projectId,
    draftId,
    epoch,
    state: isAgain
      ? 'deferred'
      : handed.result === 'sent' || handed.result === 'unknown'
        ? handed.result
        : 'failed',
    reason: 'reason' in handed ? handed.reason : null,
    reply: 'reply' in handed ? (handed.reply ?? null) : null,
    relayId: 'relayId' in handed ? (handed.relayId ?? null) : null,
    isReturned: handed.result === 'returned' || handed.result === 'withheld',
  };
}

/** Returns no move if the draft was already given up as lost. */
function movedBy({ handed, draft, againAt, wasTried }: Said, now: number): DraftChange[] {
  if (!draft) return [];
  if (handed.result === 'withheld') {
    const withheld = holdWhileSending(draft, { now, detail: { why: handed.reason } });
    return isRefused(withheld) ? [] : [withheld];
  }
  const again = handed.result === 'returned' && !wasTried ? returnDraft : retry;
  const detail = 'reply' in handed && handed.reply !== undefined ? { reply: handed.reply } : {};
  const decided =
    againAt === null
      ? finish(draft, endedAs(handed), { now, detail })
      : again(draft, { at: againAt, now, detail: { ...detail, again_at: new Date(againAt).toISOString() } });
  return isRefused(decided) ? [] : [decided];
}

function endedAs(handed: EmailResult['handed']): Parameters<typeof finish>[1] {
  switch (handed.result) {
    case 'sent':
      return { result: 'sent' };
    case 'unknown':
    case 'failed':
      return { result: handed.result, reason: handed.reason };
    case 'deferred':
      return { result: 'failed', reason: handed.reason };
    case 'returned':
    case 'withheld':
      return { result: 'failed', reason: handed.result };
    default:
      return handed satisfies never;
  }
}
