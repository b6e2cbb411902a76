import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { stateBefore } from './approve-draft.ts';
import {
  type Draft,
  applyTransition,
  type By,
  conflict,
  type DraftActionResult,
  invalid,
  type ActionRefusal,
  refusal,
  refusalOfExpired,
  EXPIRES_AFTER_MS,
  expiresAfter,
  isApproved,
} from '../drafts/index.ts';

export type PostponeInput = By & {
  until: number;
  /** Allows a time beyond the expiry, but never beyond the end of its subject. */
  extend?: boolean;
};

/** Moves the deadline and withdraws an approval. A draft that waits for a member has no deadline, so it is only hidden until then. */
export function postpone(draft: Draft, by: PostponeInput): DraftActionResult {
  const refused =
    refusal(draft, 'postpone', by) ??
    (by.extend ? null : refusalOfExpired(draft, by.now)) ??
    refusalOfState(draft) ??
    refusalOfTime(draft, by);
  if (refused) return refused;
  const { actor, now, until, extend } = by;
  const extended = extend && until > (draft.expiresAt ?? Infinity);
  const expiresAt = extended
    ? expiresAfter(until, { ms: EXPIRES_AFTER_MS, endsAt: draft.endsAt })
    : draft.expiresAt;
  const changed = draft.deadlineAt === null ? postponedState(until) : delayed(draft, until);
  const from = isoOrNull(draft.deadlineAt);
  const detail = { until: iso(until), from, before: stateBefore(draft) };
  return applyTransition(draft, { ...changed, expiresAt }, { action: 'postpone', actor, now, detail });
}

function postponedState(until: number): Partial<Draft> {
  return {
    state: 'held',
    resumeState: 'scheduled',
    reason: 'postponed',
    notBefore: until,
    dueAt: until,
    leaseBy: null,
  };
}

function delayed(draft: Draft, until: number): Partial<Draft> {
  if (draft.state === 'held') return { deadlineAt: until, resumeState: 'scheduled', notBefore: null };
  return { state: 'scheduled', reason: null, deadlineAt: until, notBefore: null, dueAt: until };
}

function refusalOfState(draft: Draft): ActionRefusal | null {
  if (draft.deadlineAt !== null) return null;
  if (draft.reason === 'no_address') {
    return conflict('The draft waits for an address. Its deadline starts when the address arrives');
  }
  if (draft.reason === 'render_failed') {
    return conflict(
      'Rendering the email failed. Edit the draft or publish a simpler template, then postpone it',
    );
  }
  if (draft.reason === 'missing_variable') {
    return conflict('The email uses a value that is unknown. Edit the draft, or skip it');
  }
  return null;
}

function refusalOfTime(draft: Draft, { now, until, extend }: PostponeInput): ActionRefusal | null {
  const { deadlineAt, expiresAt, endsAt } = draft;
  if (until <= now) return invalid('until', 'A draft can only be postponed to a time in the future');
  if (endsAt !== null && until >= endsAt) {
    return invalid('until', `The draft expires at ${iso(endsAt)}. Choose an earlier time`);
  }
  if (!isApproved(draft) && deadlineAt !== null && until < deadlineAt) {
    return invalid(
      'until',
      `The deadline of the draft is later, at ${iso(deadlineAt)}. Approve the draft to send it sooner`,
    );
  }
  if (expiresAt !== null && until > expiresAt && !extend) {
    return invalid(
      'until',
      `The draft expires at ${iso(expiresAt)}. Extend its expiry to postpone it further`,
    );
  }
  return null;
}
