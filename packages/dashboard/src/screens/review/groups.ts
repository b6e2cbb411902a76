import type { DraftListed } from '@beckon/contract/dashboard';
import { localOf } from '../../parts/zoned.ts';

/** The group of a draft in Review. It depends on the current time. */
export type Group = 'overdue' | 'soon' | 'today' | 'later' | 'no_deadline' | 'held' | 'postponed';

export const GROUP_TITLES: Record<Group, string> = {
  overdue: 'Due now',
  soon: 'Within the hour',
  today: 'Later today',
  later: 'Later',
  no_deadline: 'No deadline: sent only after approval',
  held: 'Held',
  postponed: 'Postponed',
};

const HOUR_MS = 3_600_000;

export type Moment = { now: number; zone: string };

export function groupOf(
  { state, reason, deadline_at: deadlineAt }: Pick<DraftListed, 'state' | 'reason' | 'deadline_at'>,
  { now, zone }: Moment,
): Group {
  if (reason === 'postponed' && state === 'held') return 'postponed';
  if (isHeld({ state, reason })) return 'held';
  if (deadlineAt === null) return 'no_deadline';
  const at = Date.parse(deadlineAt);
  if (at <= now) return 'overdue';
  if (at - now < HOUR_MS) return 'soon';
  return localOf(at, zone).date === localOf(now, zone).date ? 'today' : 'later';
}

/** True if a send check holds the draft, or a member has to look at it again. */
export function isHeld({ state, reason }: Pick<DraftListed, 'state' | 'reason'>): boolean {
  return state !== 'scheduled' && reason !== 'editing' && reason !== 'postponed';
}
