import type { Database } from '../../platform/db/database.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { replyText } from '../../platform/mail/smtp-reply.ts';
import { failureText, type SendResult } from '../../platform/mail/send-result.ts';
import { idempotencyOf } from '../../platform/relays/idempotency.ts';
import { isRefused, keepUnknown, lockDrafts, writeTransitions } from '../drafts/index.ts';
import { recordOutcomes, resolveAccepted } from '../outcomes/index.ts';
import { updateAsks } from '../sending/index.ts';
import type { Ask } from './claim-asks.ts';
import type { KeepReason } from './decide-ask.ts';

export type AnswerDeps = { db: Database; newId: NewId; log: Log };

/** What an answer to a repeated request says about the email. */
type AnswerEffect =
  /** It was accepted, now or by the first request. */
  | { act: 'sent' }
  | { act: 'failed' }
  /** Nothing yet. The relay is asked again at the time that was committed with the question. */
  | { act: 'wait' }
  /** Nothing, and no further request would say more. */
  | { act: 'keep'; reason: KeepReason };

/** Decides what an answer says. A refusal counts only if the provider repeats the answer to the first request. */
export function effectOf(
  sendResult: SendResult,
  { repeatsAnswer }: { repeatsAnswer: boolean },
): AnswerEffect {
  switch (sendResult.result) {
    case 'sent':
      return { act: 'sent' };
    case 'failed':
      return repeatsAnswer ? { act: 'failed' } : { act: 'keep', reason: 'repeat_refused' };
    case 'unknown':
      return sendResult.isRepeated === true ? { act: 'keep', reason: 'already_received' } : { act: 'wait' };
    case 'deferred':
    case 'returned':
    case 'withheld':
      return { act: 'wait' };
    default:
      return sendResult satisfies never;
  }
}

/** Records what a relay answered to a repeated request. Evidence that arrived before stands, because only an unknown delivery is resolved. */
export async function recordAnswer(
  { db, newId, log }: AnswerDeps,
  { projectId, draftId, emailId, relay }: Ask,
  sendResult: SendResult,
): Promise<void> {
  const now = db.clock.now();
  const effect = effectOf(sendResult, { repeatsAnswer: idempotencyOf(relay.kind)?.repeatsAnswer === true });
  if (effect.act === 'sent' && sendResult.result === 'sent') {
    const { reply, relayId } = sendResult;
    await resolveAccepted(db, { projectId, emails: [{ draftId, reply, relayId }], now });
  }
  if (effect.act === 'failed' && sendResult.result === 'failed') {
    const { bounce } = sendResult;
    const bounceClass = bounce?.class ?? 'infrastructure';
    const reason = replyText(failureText(sendResult));
    const about = { projectId, emailId, occurredAt: now, source: 'smtp', verified: true } as const;
    const data = { type: 'email.bounced', bounceClass, status: bounce?.status ?? null, reason } as const;
    await recordOutcomes({ db, newId, log }, [{ ...about, ...data }]);
  }
  if (effect.act === 'keep') await keep(db, { projectId, draftId, reason: effect.reason, now });
}

async function keep(
  db: Database,
  {
    projectId,
    draftId,
    reason,
    now,
  }: { projectId: number; draftId: string; reason: KeepReason; now: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    const [draft] = await lockDrafts(tx, projectId, [draftId]);
    const decided = draft && keepUnknown(draft, { reason, now });
    if (!decided || isRefused(decided)) return;
    await writeTransitions(tx, [decided]);
    await updateAsks(tx, { projectId, updates: [{ draftId, askAt: null, isAsked: false }] });
  });
}
