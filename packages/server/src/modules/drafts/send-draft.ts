import {
  type Draft,
  ENGINE,
  EXPIRES_AFTER_MS,
  expiresAfter,
  expiryOf,
  isApproved,
  UNDO_MS,
} from './draft.ts';
import { dueAction } from './hold-draft.ts';
import { beginDraft, type DraftTransition, type DraftChange, applyTransition } from './transitions.ts';
import { finalState, type SendResult } from '../../platform/mail/send-result.ts';
import { type By, conflict, type DraftActionResult, type ActionRefusal, refusal } from './refusals.ts';

type SendStepInput = { now: number; detail?: Record<string, unknown> };

/** Claims a draft for sending. No action can be undone from here on. Its send checks ran in the same transaction. */
export function claim(draft: Draft, { now, detail = {} }: SendStepInput): DraftActionResult {
  const refused = refusal(draft, 'claim', { actor: ENGINE, now });
  if (refused) return refused;
  if (dueAction(draft, now) !== 'leave') return conflict('The draft is not due yet');
  // A draft that is not approved has no `notBefore`, which shows its earlier state if it is returned.
  const notBefore = isApproved(draft) ? draft.notBefore : null;
  const changed: Partial<Draft> = { state: 'sending', reason: null, notBefore };
  return applyTransition(draft, changed, { action: 'claim', actor: ENGINE, now, detail });
}

/** Records the result of sending. It is unknown if the process or the connection ended in between, and such an email is never retried. */
export function finish(
  draft: Draft,
  sendResult: SendResult,
  { now, detail = {} }: SendStepInput,
): DraftActionResult {
  const state = finalState(sendResult);
  const action = ACTIONS[state];
  const refused = refusal(draft, action, { actor: ENGINE, now });
  if (refused) return refused;
  if (draft.state === 'held' && draft.reason !== 'deferred')
    return conflict('The email was never submitted to the relay');
  const reason = 'reason' in sendResult ? sendResult.reason : null;
  const changed: Partial<Draft> = { state, reason };
  return applyTransition(draft, changed, { action, actor: ENGINE, now, reason, detail });
}

const ACTIONS = { sent: 'sent', failed: 'fail', unknown: 'mark_unknown' } as const;

/** Holds an email that the recipient's server deferred. It is submitted again unchanged, after the checks that depend on time. */
export function retry(
  draft: Draft,
  { at, now, detail = {} }: SendStepInput & { at: number },
): DraftActionResult {
  const refused = refusal(draft, 'retry', { actor: ENGINE, now });
  if (refused) return refused;
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: 'approved',
    reason: 'deferred',
    // Without an approval, it is the deadline.
    notBefore: draft.notBefore ?? draft.deadlineAt ?? now,
    dueAt: at,
  };
  return applyTransition(draft, changed, { action: 'retry', actor: ENGINE, now, reason: 'deferred', detail });
}

/** Returns a draft that was claimed but never handed to the relay to its state before the claim. All send checks run again. */
export function returnDraft(
  draft: Draft,
  { at, now, detail = {} }: SendStepInput & { at: number },
): DraftActionResult {
  const refused = refusal(draft, 'return', { actor: ENGINE, now });
  if (refused) return refused;
  const state = draft.notBefore === null ? 'scheduled' : 'approved';
  const dueAt = Math.min(at, expiryOf({ ...draft, state, resumeState: null }) ?? at);
  const changed: Partial<Draft> = { state, resumeState: null, reason: null, dueAt };
  return applyTransition(draft, changed, { action: 'return', actor: ENGINE, now, detail });
}

/**
 * Holds a draft whose rendering exceeded its limits, until a member or a new version of its template changes it. Its approval is
 * withdrawn, so that it is listed among the drafts that wait for review.
 */
export function holdWhileSending(draft: Draft, { now, detail = {} }: SendStepInput): DraftActionResult {
  const refused = refusal(draft, 'hold_while_sending', { actor: ENGINE, now });
  if (refused) return refused;
  const reason = 'render_failed';
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: 'scheduled',
    reason,
    notBefore: null,
    dueAt: null,
  };
  return applyTransition(draft, changed, {
    action: 'hold_while_sending',
    actor: ENGINE,
    now,
    reason,
    detail,
  });
}

/** Resolves an unknown delivery: a bounce, an open, a click or a reply proves the result. */
export function resolveDraft(
  draft: Draft,
  proof: Extract<SendResult, { result: 'sent' | 'failed' }>,
  { now, detail }: SendStepInput,
): DraftActionResult {
  const refused = refusal(draft, 'resolve', { actor: ENGINE, now });
  if (refused) return refused;
  const reason = proof.result === 'sent' ? null : proof.reason;
  return applyTransition(
    draft,
    { state: proof.result, reason },
    { action: 'resolve', actor: ENGINE, now, reason, detail: detail ?? {} },
  );
}

export type SendAgainInput = By & {
  /** The id of the new draft. */
  id: string;
  /** The member confirmed that the email may arrive twice. */
  confirmed?: boolean;
  expiresAfterMs?: number;
};

/**
 * Creates a new draft with the same text, once for each draft. All send checks apply to it. The first of the two transitions is
 * that of the old draft. `moves`: all transitions of the old draft.
 */
export function sendAgain(
  draft: Draft,
  moves: DraftTransition[],
  by: SendAgainInput,
): { again: [DraftChange, DraftChange] } | ActionRefusal {
  const { actor, now, id, confirmed, expiresAfterMs = EXPIRES_AFTER_MS } = by;
  const refused =
    refusal(draft, 'send_again', by) ?? refusalOfAgain(draft, moves, { now, confirmed: confirmed ?? false });
  if (refused) return refused;
  const old = applyTransition(draft, {}, { action: 'send_again', actor, now, detail: { draft_id: id } });
  const notBefore = now + UNDO_MS;
  const { moves: _moves, createdAt: _createdAt, updatedAt: _updatedAt, endedAt: _endedAt, ...same } = draft;
  const made = beginDraft(
    {
      ...same,
      id,
      state: 'approved',
      resumeState: null,
      reason: null,
      deadlineAt: null,
      notBefore,
      dueAt: notBefore,
      expiresAt: expiresAfter(notBefore, { ms: expiresAfterMs, endsAt: draft.endsAt }),
      leaseBy: null,
      resendOf: draft.id,
    },
    { action: 'create_resend', actor, now, detail: { resend_of: draft.id } },
  );
  return { again: [old, made] };
}

function refusalOfAgain(
  draft: Draft,
  moves: DraftTransition[],
  { now, confirmed }: { now: number; confirmed: boolean },
): ActionRefusal | null {
  const before = moves.find((move) => move.action === 'send_again');
  if (before)
    return conflict(`The email was already sent again, as the draft ${String(before.detail.draft_id)}`);
  if (draft.endsAt !== null && draft.endsAt <= now + UNDO_MS)
    return conflict('The draft has expired, so the email cannot be sent again');
  if (draft.state === 'unknown' && !confirmed) {
    return conflict(
      'The email may have arrived, and the user would get it twice. Confirm that you want to send it again',
    );
  }
  return null;
}
