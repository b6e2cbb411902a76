import {
  type Actor,
  boundedDeadline,
  type Draft,
  dueOfScheduled,
  ENGINE,
  GRACE_MS,
  isApproved,
  isExpired,
  spreadFrom,
  spreadMs,
} from './draft.ts';
import { afterHold, cancel } from './hold-draft.ts';
import { type DraftChange, applyTransition } from './transitions.ts';
import { firstTimes } from './new-draft.ts';
import { isLeased, isRefused } from './refusals.ts';

type Resumption = { now: number; actor: Actor };

/**
 * Resumes a draft after the pause of its project. An expired draft is canceled. One that was due, or soon will be, is sent after at least
 * 15 minutes, spread over half an hour, and is evaluated again before. Returns null if nothing changes.
 */
export function resumeDraft(draft: Draft, { now, actor }: Resumption): DraftChange | null {
  if (draft.endedAt !== null || draft.state === 'sending') return null;
  if (isExpired(draft, now) && draft.reason !== 'deferred') {
    const canceled = cancel(draft, { reason: 'expired', now, actor });
    return isRefused(canceled) ? null : canceled;
  }
  const deadlineAt = deadlineAfterPause(draft, now);
  const changed = afterPause({ ...draft, deadlineAt }, now);
  const isSame = changed === null && deadlineAt === draft.deadlineAt;
  return isSame ? null : applyTransition(draft, { deadlineAt, ...changed }, { action: 'resume', actor, now });
}

function deadlineAfterPause(draft: Draft, now: number): number | null {
  const { deadlineAt, endsAt, id } = draft;
  const isMoved = deadlineAt !== null && !isApproved(draft) && deadlineAt < now + GRACE_MS;
  return isMoved
    ? Math.max(deadlineAt, boundedDeadline(now + GRACE_MS + spreadMs(id), { now, endsAt }))
    : deadlineAt;
}

/** Returns the changes apart from the deadline, or null without any. */
function afterPause(draft: Draft, now: number): Partial<Draft> | null {
  if (draft.state === 'held') return heldAfterPause(draft, now);
  if (draft.state === 'approved')
    return (draft.dueAt ?? now) > now ? null : { dueAt: spreadFrom(draft, now) };
  if (draft.state !== 'scheduled') return null;
  const dueAt = dueOfScheduled(draft);
  return dueAt === draft.dueAt ? null : { dueAt };
}

function heldAfterPause(draft: Draft, now: number): Partial<Draft> | null {
  if (draft.reason === 'deferred') return draft.dueAt === null ? { dueAt: spreadFrom(draft, now) } : null;
  if (draft.reason !== 'paused') return null;
  return isLeased(draft, now) ? { reason: 'editing' } : afterHold(draft, { now, spread: true });
}

/** Above this number of drafts held for more than a day, a release needs confirmation by a member. */
const RELEASE_UNCONFIRMED_MAX = 100;
export const LONG_HELD_MS = 24 * 3_600_000;

export function needsConfirmation({ longHeld }: { longHeld: number }): boolean {
  return longHeld > RELEASE_UNCONFIRMED_MAX;
}

export type NewMode = {
  /** The full period, or null if only a member can send the drafts. */
  autopilotMs: number | null;
  /** On a change to autopilot, includes the drafts that already wait. A change to draft-only always does. */
  includeOpen: boolean;
  expiresAfterMs: number;
  now: number;
  actor?: Actor;
  /** The reason for a change that no member made: a demoted rule. */
  reason?: string;
};

/**
 * Applies a new mode of the rule or the project. Draft-only: an untouched draft immediately loses its automatic sending. Autopilot: it
 * applies to new drafts and, on request, to open ones with the full period. Returns null if nothing changes.
 */
export function setDraftMode(draft: Draft, mode: NewMode): DraftChange | null {
  const isOpen = draft.endedAt === null && draft.state !== 'sending' && draft.reason !== 'deferred';
  if (!isOpen) return null;
  const changed =
    mode.autopilotMs === null ? towardsDraftOnly(draft) : towardsAutopilot(draft, mode, mode.autopilotMs);
  if (changed === null) return null;
  const { now, actor = ENGINE, reason = null } = mode;
  const detail = { autopilot_ms: mode.autopilotMs };
  return applyTransition(draft, changed, { action: 'change_mode', actor, now, reason, detail });
}

function towardsDraftOnly(draft: Draft): Partial<Draft> | null {
  const { isEdited, autopilotMs, deadlineAt, state } = draft;
  if (isEdited || (autopilotMs === null && deadlineAt === null)) return null;
  // This includes an approved draft, which would otherwise be sent at its earlier deadline after an undo, edit or postponement.
  const none = { autopilotMs: null, deadlineAt: null };
  return state === 'scheduled' ? { ...none, dueAt: dueOfScheduled({ ...draft, ...none }) } : none;
}

function towardsAutopilot(draft: Draft, mode: NewMode, autopilotMs: number): Partial<Draft> | null {
  if (!mode.includeOpen || draft.deadlineAt !== null) return null;
  // Its period starts with an address, or a deadline no longer matters to it.
  const isTimeless = draft.reason === 'no_address' || isApproved(draft);
  if (isTimeless) return draft.autopilotMs === autopilotMs ? null : { autopilotMs };
  const first = firstTimes({ ...draft, ...mode, autopilotMs });
  const deadlineAt = Math.max(first.deadlineAt ?? mode.now, hiddenUntil(draft));
  const times = { autopilotMs, deadlineAt, expiresAt: draft.expiresAt ?? first.expiresAt };
  return draft.state === 'scheduled' ? { ...times, dueAt: deadlineAt } : times;
}

/** A hidden draft stays hidden until the chosen time. */
function hiddenUntil({ reason, notBefore }: Draft): number {
  return reason === 'postponed' ? (notBefore ?? 0) : 0;
}
