import { sha256 } from '../../base/hash.ts';
import type { Draft } from './draft.ts';

/** So long an approval or a skip can be undone. */
export const UNDO_MS = 10_000;
/** Nothing leaves by itself so shortly after a person, or a resumption, has touched it. */
export const GRACE_MS = 15 * 60_000;
/** An editor that says nothing for so long counts as closed. */
export const LEASE_MS = 10 * 60_000;
/** What is let go at once leaves over this time. */
const SPREAD_MS = 30 * 60_000;
/** How long after its first deadline a draft is worth sending, where its rule says nothing else. */
export const EXPIRES_AFTER_MS = 72 * 3_600_000;
/** A letter about an end has to leave before that end, through gates that may hold it. */
const BEFORE_END_MS = 15 * 60_000;

/** The end of what it is about bounds every deadline; the present bounds the end. */
export function boundedDeadline(
  wanted: number,
  { now, endsAt }: { now: number; endsAt: number | null },
): number {
  return Math.max(now, Math.min(wanted, endsAt === null ? wanted : endsAt - BEFORE_END_MS));
}

/** The later one of its deadline and a quarter of an hour from now; none where it has none. */
export function withGrace(
  { deadlineAt, endsAt }: Pick<Draft, 'deadlineAt' | 'endsAt'>,
  now: number,
): number | null {
  return deadlineAt === null ? null : Math.max(deadlineAt, boundedDeadline(now + GRACE_MS, { now, endsAt }));
}

export function expiresAfter(first: number, { ms, endsAt }: { ms: number; endsAt: number | null }): number {
  return Math.min(first + ms, endsAt ?? Infinity);
}

type Expiring = Pick<Draft, 'state' | 'resumeState' | 'deadlineAt' | 'notBefore' | 'expiresAt' | 'endsAt'>;

/**
 * From when on it is not worth sending any more. One that is to leave right at its expiry still has its quarter of an hour,
 * because nobody looks at the very millisecond; the end of what it is about waits for nobody.
 */
export function expiryOf(draft: Expiring): number | null {
  const { expiresAt, endsAt } = draft;
  if (expiresAt === null) return endsAt;
  return Math.min(Math.max(expiresAt, (leavesAt(draft) ?? 0) + GRACE_MS), endsAt ?? Infinity);
}

export function isExpired(draft: Expiring, now: number): boolean {
  return now >= (expiryOf(draft) ?? Infinity);
}

/** When it leaves if nothing holds it; null while it waits for a person. */
export function leavesAt(
  draft: Pick<Draft, 'state' | 'resumeState' | 'deadlineAt' | 'notBefore'>,
): number | null {
  return isApproved(draft) ? draft.notBefore : draft.deadlineAt;
}

/** A held one too, if it goes on as an approved one. */
export function isApproved({ state, resumeState }: Pick<Draft, 'state' | 'resumeState'>): boolean {
  return (state === 'held' ? resumeState : state) === 'approved';
}

/** The same for one draft always, so that whoever asks twice hears one answer. */
export function spreadMs(draftId: string): number {
  return Number.parseInt(sha256(draftId).slice(0, 8), 16) % SPREAD_MS;
}

/** When it leaves if it is let go now with many others; not so late that it would be of no use. */
export function spreadFrom(draft: Expiring & Pick<Draft, 'id'>, now: number): number {
  return Math.max(now, Math.min(now + spreadMs(draft.id), (expiryOf(draft) ?? Infinity) - BEFORE_END_MS));
}

/** When the sender has to look at a scheduled draft: at its deadline or, without one, at its expiry. */
export function dueOfScheduled(draft: Omit<Expiring, 'state' | 'resumeState'>): number | null {
  return draft.deadlineAt ?? expiryOf({ ...draft, state: 'scheduled', resumeState: null });
}
