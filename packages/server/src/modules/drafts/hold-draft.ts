import {
  type Actor,
  type Draft,
  dueOfScheduled,
  ENGINE,
  expiryOf,
  isApproved,
  isExpired,
  automaticSendAt,
  spreadFrom,
} from './draft.ts';
import { applyTransition } from './transitions.ts';
import { conflict, type DraftActionResult, DEFERRED, isLeased, refusal } from './refusals.ts';

export type HoldInput = {
  reason: string;
  /** When to run the check again. Null if only a member or an event changes the hold. */
  until: number | null;
  now: number;
  actor?: Actor;
  detail?: Record<string, unknown>;
};

/**
 * Holds a draft, which later returns to its current state. An open editor stays open. An email deferred by the recipient's server stays
 * deferred under any hold with an end, because its content is frozen. A hold that waits for a member applies in any case.
 */
export function hold(
  draft: Draft,
  { reason, until, now, actor = ENGINE, detail }: HoldInput,
): DraftActionResult {
  const refused = refusal(draft, 'hold', { actor: ENGINE, now });
  if (refused) return refused;
  const recheckAt = until === null ? null : Math.min(until, expiryOf(draft) ?? until);
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: resumeOf(draft),
    reason: draft.reason === 'deferred' && until !== null ? draft.reason : reason,
    dueAt: isLeased(draft, now) ? draft.dueAt : recheckAt,
  };
  return applyTransition(draft, changed, {
    action: 'hold',
    actor,
    now,
    reason,
    detail: { until, ...detail },
  });
}

/**
 * Returns the new time of the next check if the draft is held for the same reason. This is not recorded as a move, because each sent email
 * would otherwise add a row for every draft in a long queue. Returns null for a new reason.
 */
export function heldOn(draft: Draft, { reason, until }: Pick<HoldInput, 'reason' | 'until'>): number | null {
  const isSame = draft.reason === reason || draft.reason === 'deferred';
  if (until === null || draft.state !== 'held' || !isSame) return null;
  return Math.min(until, expiryOf(draft) ?? until);
}

function resumeOf({ state, resumeState }: Draft): Draft['resumeState'] {
  if (state === 'held') return resumeState;
  return state === 'approved' ? 'approved' : 'scheduled';
}

export type ReleaseInput = {
  now: number;
  actor?: Actor;
  reason?: string;
  /** For a release of many drafts: those that are due are spread over half an hour. */
  spread?: boolean;
};

/** Returns a held draft to its earlier state unless it has expired. The sender evaluates it again before it is sent. */
export function release(draft: Draft, input: ReleaseInput): DraftActionResult {
  const { now, actor = ENGINE, reason = null } = input;
  const refused = refusal(draft, 'release', { actor: ENGINE, now });
  if (refused) return refused;
  if (draft.reason === 'deferred') return conflict(DEFERRED);
  if (isExpired(draft, now)) return cancel(draft, { reason: 'expired', now, actor });
  const changed = isLeased(draft, now) ? { reason: 'editing' } : afterHold(draft, input);
  return applyTransition(draft, changed, { action: 'release', actor, now, reason });
}

/** Returns the fields of a held draft in its earlier state. */
export function afterHold(draft: Draft, { now, spread = false }: ReleaseInput): Partial<Draft> {
  const state = draft.resumeState ?? 'scheduled';
  const soonest = spread ? spreadFrom(draft, now) : now;
  const sendAt = automaticSendAt(draft);
  const dueAt = sendAt !== null && sendAt <= now ? soonest : sendAt;
  switch (state) {
    case 'approved':
      return { state, reason: null, dueAt: dueAt ?? soonest };
    case 'scheduled':
      return { state, reason: null, notBefore: null, dueAt: dueAt ?? dueOfScheduled(draft) };
    default:
      return state satisfies never;
  }
}

export type CancelInput = { reason: string; now: number; actor?: Actor; detail?: Record<string, unknown> };

/**
 * Cancels a draft for good: by an exit condition, a goal, a suppression or its expiry. Neither an approval nor an open editor prevents
 * this.
 */
export function cancel(
  draft: Draft,
  { reason, now, actor = ENGINE, detail = {} }: CancelInput,
): DraftActionResult {
  const refused = refusal(draft, 'cancel', { actor: ENGINE, now });
  if (refused) return refused;
  return applyTransition(
    draft,
    { state: 'canceled', reason },
    { action: 'cancel', actor, now, reason, detail },
  );
}

/**
 * Cancels a draft when the condition of its rule no longer holds. An edited draft is held instead for a member to decide. Do not call it
 * for a draft that a member sends anyway.
 */
export function holdOrCancelUnmatched(
  draft: Draft,
  { now, detail = {} }: Pick<CancelInput, 'now' | 'detail'>,
): DraftActionResult {
  if (draft.isEdited) return hold(draft, { reason: 'needs_review', until: null, now, detail });
  return cancel(draft, { reason: 'rule_no_longer_holds', now, detail });
}

/** Cancels a draft when an authenticated human has replied. A draft that a member edited or approved is held for them instead. */
export function holdOrCancelReplied(
  draft: Draft,
  { now, detail = {} }: Pick<CancelInput, 'now' | 'detail'>,
): DraftActionResult {
  if (draft.isEdited || wasApproved(draft))
    return hold(draft, { reason: 'replied', until: null, now, detail });
  return cancel(draft, { reason: 'replied', now, detail });
}

/** A deferred email counts as approved after its hold, also without an approval by a member. See `retry`. */
function wasApproved(draft: Draft): boolean {
  return isApproved(draft) && !(draft.reason === 'deferred' && draft.notBefore === draft.deadlineAt);
}

export type DueAction = 'wait' | 'expire' | 'give_up' | 'close_editor' | 'release' | 'leave';

/**
 * Returns what the sender has to do with a draft that is due. `leave`: evaluate it again, run the send checks, and claim or hold it.
 * `give_up`: the recipient's server deferred it until it expired.
 */
export function dueAction(draft: Draft, now: number): DueAction {
  if (draft.dueAt === null || draft.dueAt > now) return 'wait';
  if (isExpired(draft, now)) return draft.reason === 'deferred' ? 'give_up' : 'expire';
  if (draft.leaseBy !== null) return 'close_editor';
  if (draft.state === 'held' && (draft.reason === 'postponed' || !isReady(draft, now))) return 'release';
  return isReady(draft, now) ? 'leave' : 'wait';
}

/** Returns whether its sending time has come, regardless of the send checks. */
function isReady(draft: Draft, now: number): boolean {
  const sendAt = automaticSendAt(draft);
  return sendAt !== null && sendAt <= now;
}
