import { DRAFT_STATES, type DraftContent, type DraftState } from '@beckon/contract/dashboard';
import { sha256 } from '../../platform/crypto/hash.ts';

/** An email to one user that waits for its deadline, a review or the send checks. Times are in milliseconds. */
export type Draft = {
  projectId: number;
  id: string;
  ruleId: string;
  version: number;
  runId: string | null;
  /** The step in the program of the run. */
  step: number;
  userId: string;
  key: string;
  state: DraftState;
  /** The state to which a held draft returns. */
  resumeState: 'scheduled' | 'approved' | null;
  /** Why the draft is held, canceled or failed. For a skip, the reason given by the member. */
  reason: string | null;
  content: DraftContent;
  contentHash: string;
  /** A member rewrote it, so it no longer follows its template or its facts. */
  isEdited: boolean;
  /** The facts about the user in the email, by variable. */
  facts: Record<string, unknown>;
  priority: number;
  counts: boolean;
  /** The full period after which an untouched draft is sent automatically. If it is null, only a member can send it. */
  autopilotMs: number | null;
  deadlineAt: number | null;
  /** An approval or skip is not final before this time. */
  notBefore: number | null;
  /** When the sender must check the draft. If it is null, only a member or an event moves it. */
  dueAt: number | null;
  expiresAt: number | null;
  /** The end of the subject of the email, such as a trial. The draft cannot be postponed beyond it. */
  endsAt: number | null;
  leaseBy: string | null;
  resendOf: string | null;
  /** The number of its moves. */
  moves: number;
  createdAt: number;
  updatedAt: number;
  endedAt: number | null;
};

export { DRAFT_STATES, type DraftContent, type DraftState };

/** A draft held for one of these waits for a member's decision, even if it was approved before. */
export const MEMBER_DECIDES: readonly string[] = ['needs_review', 'replied', 'restored'];

/** A draft held for one of these cannot be sent until its content changes. A value is missing, or rendering takes more than the limit. */
export const INCOMPLETE_REASONS: readonly string[] = ['missing_variable', 'render_failed'];

export function isIncomplete({ reason }: Pick<Draft, 'reason'>): boolean {
  return reason !== null && INCOMPLETE_REASONS.includes(reason);
}

/** A member of the team, `operator`, or the engine. */
export type Actor = string;
export const ENGINE: Actor = 'engine';

/** How long an approval or a skip can be undone. */
export const UNDO_MS = 10_000;
/** The time after an action by a member or a resumption in which no email is sent automatically. */
export const GRACE_MS = 15 * 60_000;
/** An editor without a request for this long counts as closed. */
export const LEASE_MS = 10 * 60_000;
/** Drafts released together are spread over this time. */
const SPREAD_MS = 30 * 60_000;
/** The default time from a draft's first deadline to its expiry. */
export const EXPIRES_AFTER_MS = 72 * 3_600_000;
/** An email about an end must be sent before that end, and send checks may hold it for a while. */
const BEFORE_END_MS = 15 * 60_000;

/** Returns the deadline, limited by the end of its subject but never before now. */
export function boundedDeadline(
  deadline: number,
  { now, endsAt }: { now: number; endsAt: number | null },
): number {
  return Math.max(now, Math.min(deadline, endsAt === null ? deadline : endsAt - BEFORE_END_MS));
}

/** Returns the later of the deadline and 15 minutes from now, or null without a deadline. */
export function withGrace(
  { deadlineAt, endsAt }: Pick<Draft, 'deadlineAt' | 'endsAt'>,
  now: number,
): number | null {
  return deadlineAt === null ? null : Math.max(deadlineAt, boundedDeadline(now + GRACE_MS, { now, endsAt }));
}

export function expiresAfter(first: number, { ms, endsAt }: { ms: number; endsAt: number | null }): number {
  return Math.min(first + ms, endsAt ?? Infinity);
}

type DraftExpiry = Pick<Draft, 'state' | 'resumeState' | 'deadlineAt' | 'notBefore' | 'expiresAt' | 'endsAt'>;

/**
 * Returns when the draft expires. A draft that is due right at its expiry gets another 15 minutes, because the sender does not check at
 * that exact millisecond. The end of its subject is a hard limit.
 */
export function expiryOf(draft: DraftExpiry): number | null {
  const { expiresAt, endsAt } = draft;
  if (expiresAt === null) return endsAt;
  return Math.min(Math.max(expiresAt, (automaticSendAt(draft) ?? 0) + GRACE_MS), endsAt ?? Infinity);
}

export function isExpired(draft: DraftExpiry, now: number): boolean {
  return now >= (expiryOf(draft) ?? Infinity);
}

/** Returns when the draft is sent if nothing holds it, or null while it waits for a member. */
export function automaticSendAt(
  draft: Pick<Draft, 'state' | 'resumeState' | 'deadlineAt' | 'notBefore'>,
): number | null {
  return isApproved(draft) ? draft.notBefore : draft.deadlineAt;
}

/** Includes a held draft that returns to `approved`. */
export function isApproved({ state, resumeState }: Pick<Draft, 'state' | 'resumeState'>): boolean {
  return (state === 'held' ? resumeState : state) === 'approved';
}

/** Derives the delay from the id, so that repeated calls give the same result. */
export function spreadMs(draftId: string): number {
  return Number.parseInt(sha256(draftId).slice(0, 8), 16) % SPREAD_MS;
}

/** Returns when a draft is sent that is released now with many others, early enough to be still of use. */
export function spreadFrom(draft: DraftExpiry & Pick<Draft, 'id'>, now: number): number {
  return Math.max(now, Math.min(now + spreadMs(draft.id), (expiryOf(draft) ?? Infinity) - BEFORE_END_MS));
}

/** Returns when the sender has to check a scheduled draft: at its deadline or, without one, at its expiry. */
export function dueOfScheduled(draft: Omit<DraftExpiry, 'state' | 'resumeState'>): number | null {
  return draft.deadlineAt ?? expiryOf({ ...draft, state: 'scheduled', resumeState: null });
}
