import {
  type Draft,
  type DraftActionResult,
  refusal,
  ENGINE,
  dueAction,
  conflict,
  isApproved,
  applyTransition,
  expiryOf,
} from '../drafts/index.ts';
import { type SendResult, finalState } from '../../platform/mail/send-result.ts';

/** `detail` is stored with the transition. */
type SendStep = { now: number; detail?: Record<string, unknown> };

/** Claims a draft for sending. No action can be undone from here on. Its send checks ran in the same transaction. */
export function claim(draft: Draft, { now, detail = {} }: SendStep): DraftActionResult {
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
  { now, detail = {} }: SendStep,
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
export function retry(draft: Draft, { at, now, detail = {} }: SendStep & { at: number }): DraftActionResult {
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
  { at, now, detail = {} }: SendStep & { at: number },
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
export function holdWhileSending(draft: Draft, { now, detail = {} }: SendStep): DraftActionResult {
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
