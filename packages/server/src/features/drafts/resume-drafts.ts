import { type Actor, type Draft, ENGINE } from './draft.ts';
import { afterHold, cancel } from './hold-draft.ts';
import { type Moved, moved } from './moves.ts';
import { firstTimes } from './new-draft.ts';
import { isLeased, isRefused } from './refuse.ts';
import {
  boundedDeadline,
  dueOfScheduled,
  GRACE_MS,
  isApproved,
  isExpired,
  spreadFrom,
  spreadMs,
} from './timing.ts';

type Resumption = { now: number; actor: Actor };

/**
 * The project is no longer paused. What expired meanwhile is canceled; what was due or soon will be leaves in a quarter of an
 * hour at the earliest, spread over half an hour, and is evaluated anew before. Null: nothing changes about it.
 */
export function resumed(draft: Draft, { now, actor }: Resumption): Moved | null {
  if (draft.endedAt !== null || draft.state === 'sending') return null;
  if (isExpired(draft, now) && draft.reason !== 'deferred') {
    const canceled = cancel(draft, { reason: 'expired', now, actor });
    return isRefused(canceled) ? null : canceled;
  }
  const deadlineAt = deadlineAfterPause(draft, now);
  const changed = afterPause({ ...draft, deadlineAt }, now);
  const isSame = changed === null && deadlineAt === draft.deadlineAt;
  return isSame ? null : moved(draft, { deadlineAt, ...changed }, { action: 'resume', actor, now });
}

function deadlineAfterPause(draft: Draft, now: number): number | null {
  const { deadlineAt, endsAt, id } = draft;
  const isMoved = deadlineAt !== null && !isApproved(draft) && deadlineAt < now + GRACE_MS;
  return isMoved
    ? Math.max(deadlineAt, boundedDeadline(now + GRACE_MS + spreadMs(id), { now, endsAt }))
    : deadlineAt;
}

/** Where it stands besides its deadline; null where it stays where it is. */
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

/** So many drafts that were held for more than a day are not let go without a person's word. */
const LET_GO_UNASKED_MAX = 100;
export const LONG_HELD_MS = 24 * 3_600_000;

export function needsConfirmation({ longHeld }: { longHeld: number }): boolean {
  return longHeld > LET_GO_UNASKED_MAX;
}

export type NewMode = {
  /** The whole period; null: only a person sends them. */
  autopilotMs: number | null;
  /** Towards autopilot: those that wait too. Towards draft-only it is always so. */
  includeOpen: boolean;
  expiresAfterMs: number;
  now: number;
  actor?: Actor;
  /** Why, where nobody chose it: a rule that was demoted. */
  reason?: string;
};

/**
 * Its rule, or the project, has another mode. Draft-only: an untouched one does not leave by itself any more, at once. Autopilot:
 * that is for new drafts and, if wanted, for open ones with the whole period before them. Null: nothing changes about it.
 */
export function modeChanged(draft: Draft, mode: NewMode): Moved | null {
  const isOpen = draft.endedAt === null && draft.state !== 'sending' && draft.reason !== 'deferred';
  if (!isOpen) return null;
  const changed =
    mode.autopilotMs === null ? towardsDraftOnly(draft) : towardsAutopilot(draft, mode, mode.autopilotMs);
  if (changed === null) return null;
  const { now, actor = ENGINE, reason = null } = mode;
  const detail = { autopilot_ms: mode.autopilotMs };
  return moved(draft, changed, { action: 'change_mode', actor, now, reason, detail });
}

function towardsDraftOnly(draft: Draft): Partial<Draft> | null {
  const { isEdited, autopilotMs, deadlineAt, state } = draft;
  if (isEdited || (autopilotMs === null && deadlineAt === null)) return null;
  // An approved one too: what is taken back, edited or postponed would leave by the deadline that it had before.
  const none = { autopilotMs: null, deadlineAt: null };
  return state === 'scheduled' ? { ...none, dueAt: dueOfScheduled({ ...draft, ...none }) } : none;
}

function towardsAutopilot(draft: Draft, mode: NewMode, autopilotMs: number): Partial<Draft> | null {
  if (!mode.includeOpen || draft.deadlineAt !== null) return null;
  // Its time begins when there is an address, or has nothing more to do with a deadline.
  const isTimeless = draft.reason === 'no_address' || draft.state === 'composing' || isApproved(draft);
  if (isTimeless) return draft.autopilotMs === autopilotMs ? null : { autopilotMs };
  const first = firstTimes({ ...draft, ...mode, autopilotMs });
  const deadlineAt = Math.max(first.deadlineAt ?? mode.now, hiddenUntil(draft));
  const times = { autopilotMs, deadlineAt, expiresAt: draft.expiresAt ?? first.expiresAt };
  return draft.state === 'scheduled' ? { ...times, dueAt: deadlineAt } : times;
}

/** What was put out of sight stays so until the time that was wanted. */
function hiddenUntil({ reason, notBefore }: Draft): number {
  return reason === 'postponed' ? (notBefore ?? 0) : 0;
}
