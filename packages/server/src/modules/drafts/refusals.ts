import { Fault } from '../../platform/fault.ts';
import { iso } from '../../platform/time/clock.ts';
import { type Actor, type Draft, type DraftState, ENGINE, isExpired } from './draft.ts';
import { type Action, can, type DraftChange } from './transitions.ts';

/** The result of an action: the changed draft, or the reason why it was refused. */
export type ActionRefusal = { refused: Fault };
export type DraftActionResult = DraftChange | ActionRefusal;

/** The actor and the time of an action. `hash` and `moves` name the content and the number of transitions that the actor saw. */
export type By = { actor: Actor; now: number; hash?: string; moves?: number };

/** Throws a refusal as a fault. */
export function orThrow<T extends object>(decided: T | ActionRefusal): T {
  if ('refused' in decided) throw decided.refused;
  return decided;
}

export function isRefused(decided: object): decided is ActionRefusal {
  return 'refused' in decided;
}

export function conflict(message: string): ActionRefusal {
  return { refused: new Fault('conflict', { details: [{ message, field: 'draft' }] }) };
}

export function invalid(field: string, message: string): ActionRefusal {
  return { refused: new Fault('validation_failed', { details: [{ message, field }] }) };
}

/** Returns why this action cannot be applied to the draft now, or null if it can. */
export function refusal(draft: Draft, action: Action, by: By): ActionRefusal | null {
  if (by.hash !== undefined && by.hash !== draft.contentHash) {
    return conflict('The text of the draft changed since you loaded it. Reload the draft, then decide');
  }
  if (by.moves !== undefined && by.moves !== draft.moves) {
    return conflict(`The draft changed at ${iso(draft.updatedAt)}. Reload the draft, then decide`);
  }
  if (!can(draft.state, action)) return conflict(STATE_MESSAGES[draft.state]);
  if (by.actor === ENGINE) return null;
  return memberRefusal(draft, by);
}

function memberRefusal(draft: Draft, by: By): ActionRefusal | null {
  if (draft.reason === 'deferred') return conflict(DEFERRED);
  if (isLeased(draft, by.now) && draft.leaseBy !== by.actor) {
    return conflict(`${draft.leaseBy} is editing the draft. Wait until the editor is closed`);
  }
  return null;
}

/** Refuses actions on an expired draft, which would not be sent. */
export function refusalOfExpired(draft: Draft, now: number): ActionRefusal | null {
  if (!isExpired(draft, now)) return null;
  if (draft.endsAt !== null && draft.endsAt <= now) {
    return conflict(`The draft expired at ${iso(draft.endsAt)}. It can only be skipped`);
  }
  const at = iso(draft.expiresAt ?? now);
  return conflict(`The draft expired at ${at}. Postpone it with an extended expiry, or skip it`);
}

/** Returns whether a member has the editor of the draft open. */
export function isLeased(draft: Pick<Draft, 'leaseBy' | 'dueAt'>, now: number): boolean {
  return draft.leaseBy !== null && draft.dueAt !== null && draft.dueAt > now;
}

export const DEFERRED =
  "The email is already being sent. The recipient's server deferred it, and it will be retried";

const STATE_MESSAGES: Record<DraftState, string> = {
  scheduled: 'The draft is waiting for its deadline or approval, so this action does not apply',
  approved: 'The draft is already approved',
  held: 'The draft is held, and this action does not apply',
  sending: 'The email is already being sent',
  sent: 'The email was already sent',
  skipped: 'The draft was already skipped',
  canceled: 'The draft was canceled',
  failed: 'The email could not be sent. It can be sent again as a new draft',
  unknown: 'Delivery of the email is unknown. It can be sent again as a new draft',
};
