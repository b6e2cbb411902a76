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
  if (state !== 'scheduled' && reason !== 'editing') return 'held';
  if (deadlineAt === null) return 'no_deadline';
  const at = Date.parse(deadlineAt);
  if (at <= now) return 'overdue';
  if (at - now < HOUR_MS) return 'soon';
  return localOf(at, zone).date === localOf(now, zone).date ? 'today' : 'later';
}

export type Item = { kind: 'head'; group: Group } | { kind: 'row'; row: DraftListed };

/** The rows in order, with a title before each group. */
export function itemsOf(rows: DraftListed[], moment: Moment): Item[] {
  const items: Item[] = [];
  let before: Group | null = null;
  for (const row of rows) {
    const group = groupOf(row, moment);
    if (group !== before) items.push({ kind: 'head', group });
    before = group;
    items.push({ kind: 'row', row });
  }
  return items;
}
