import { type Actor, type Draft, ENGINE } from './draft.ts';
import { moved } from './moves.ts';
import { conflict, type Decided, DEFERRED, isLeased, refusal } from './refuse.ts';
import { dueOfScheduled, expiryOf, isApproved, isExpired, leavesAt, spreadFrom } from './timing.ts';

export type Held = {
  reason: string;
  /** When to ask again; null where only a person or an event changes it. */
  until: number | null;
  now: number;
  actor?: Actor;
  detail?: Record<string, unknown>;
};

/**
 * Held, not dropped: it goes on as what it was. An editor that is open stays open, and what the recipient's server has put
 * off stays so, whatever holds it until when: its content is frozen. What waits for a person waits for them all the same.
 */
export function hold(draft: Draft, { reason, until, now, actor = ENGINE, detail }: Held): Decided {
  const refused = refusal(draft, 'hold', { actor: ENGINE, now });
  if (refused) return refused;
  const asked = until === null ? null : Math.min(until, expiryOf(draft) ?? until);
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: resumeOf(draft),
    reason: draft.reason === 'deferred' && until !== null ? draft.reason : reason,
    dueAt: isLeased(draft, now) ? draft.dueAt : asked,
  };
  return moved(draft, changed, { action: 'hold', actor, now, reason, detail: { until, ...detail } });
}

/**
 * Held on for the same until then, so that nothing of it changes but when it is asked again: that is no move, or each of a
 * long queue would have a row for every letter that leaves. Null: this is another reason than before.
 */
export function heldOn(draft: Draft, { reason, until }: Pick<Held, 'reason' | 'until'>): number | null {
  const isSame = draft.reason === reason || draft.reason === 'deferred';
  if (until === null || draft.state !== 'held' || !isSame) return null;
  return Math.min(until, expiryOf(draft) ?? until);
}

function resumeOf({ state, resumeState }: Draft): Draft['resumeState'] {
  if (state === 'held') return resumeState;
  return state === 'approved' || state === 'composing' ? state : 'scheduled';
}

export type Released = {
  now: number;
  actor?: Actor;
  reason?: string;
  /** With many others: what would leave at once leaves over half an hour. */
  spread?: boolean;
};

/** Goes on as what it was, if that is still worth it; the sender evaluates it anew before it leaves. */
export function release(draft: Draft, released: Released): Decided {
  const { now, actor = ENGINE, reason = null } = released;
  const refused = refusal(draft, 'release', { actor: ENGINE, now });
  if (refused) return refused;
  if (draft.reason === 'deferred') return conflict(DEFERRED);
  if (isExpired(draft, now)) return cancel(draft, { reason: 'expired', now, actor });
  const changed = isLeased(draft, now) ? { reason: 'editing' } : afterHold(draft, released);
  return moved(draft, changed, { action: 'release', actor, now, reason });
}

/** A held draft as what it goes on as. */
export function afterHold(draft: Draft, { now, spread = false }: Released): Partial<Draft> {
  const state = draft.resumeState ?? 'scheduled';
  const soonest = spread ? spreadFrom(draft, now) : now;
  const leaves = leavesAt(draft);
  const dueAt = leaves !== null && leaves <= now ? soonest : leaves;
  switch (state) {
    case 'approved':
      return { state, reason: null, dueAt: dueAt ?? soonest };
    case 'scheduled':
      return { state, reason: null, notBefore: null, dueAt: dueAt ?? dueOfScheduled(draft) };
    case 'composing':
      return { state, reason: null, dueAt: null };
    default:
      return state satisfies never;
  }
}

export type Canceled = { reason: string; now: number; actor?: Actor; detail?: Record<string, unknown> };

/** For good: by an exit, a goal, a suppression, the end of its time. An approval or an open editor does not save it. */
export function cancel(draft: Draft, { reason, now, actor = ENGINE, detail = {} }: Canceled): Decided {
  const refused = refusal(draft, 'cancel', { actor: ENGINE, now });
  if (refused) return refused;
  return moved(draft, { state: 'canceled', reason }, { action: 'cancel', actor, now, reason, detail });
}

/**
 * The condition of its rule no longer holds. What a person wrote is kept for them to decide; everything else goes.
 * Not to be asked of one that somebody sends anyway.
 */
export function noLongerHolds(draft: Draft, { now, detail = {} }: Pick<Canceled, 'now' | 'detail'>): Decided {
  if (draft.isEdited) return hold(draft, { reason: 'needs_review', until: null, now, detail });
  return cancel(draft, { reason: 'rule_no_longer_holds', now, detail });
}

/** An authenticated human has answered: what a person has touched is kept for them, everything else goes. */
export function replied(draft: Draft, { now, detail = {} }: Pick<Canceled, 'now' | 'detail'>): Decided {
  if (draft.isEdited || wasApproved(draft))
    return hold(draft, { reason: 'replied', until: null, now, detail });
  return cancel(draft, { reason: 'replied', now, detail });
}

/** What was put off goes on as an approved one, whoever let it go: see `retry`. */
function wasApproved(draft: Draft): boolean {
  return isApproved(draft) && !(draft.reason === 'deferred' && draft.notBefore === draft.deadlineAt);
}

export type DueAction = 'wait' | 'expire' | 'give_up' | 'close_editor' | 'release' | 'leave';

/**
 * What the sender has to do with a draft that is due. `leave`: evaluate it anew, ask the gates, and claim or hold it.
 * `give_up`: the recipient's server put it off until nobody waits for it any more.
 */
export function dueAction(draft: Draft, now: number): DueAction {
  if (draft.dueAt === null || draft.dueAt > now) return 'wait';
  if (isExpired(draft, now)) return draft.reason === 'deferred' ? 'give_up' : 'expire';
  if (draft.leaseBy !== null) return 'close_editor';
  if (draft.state === 'held' && (draft.reason === 'postponed' || !isReady(draft, now))) return 'release';
  return isReady(draft, now) ? 'leave' : 'wait';
}

/** Whether its time has come, whatever the gates say. */
function isReady(draft: Draft, now: number): boolean {
  const leaves = leavesAt(draft);
  return draft.state !== 'composing' && draft.resumeState !== 'composing' && leaves !== null && leaves <= now;
}
