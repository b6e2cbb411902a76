import type { DraftListed } from '@beckon/contract/dashboard';
import { instantOf, localOf } from '../../parts/zoned.ts';

/** A time to postpone a draft to. `extends`: after its expiry, which is extended; `fault`: why it is not possible. */
export type Preset = { label: string; at: number; extends: boolean; fault: string | null };

type Times = Pick<DraftListed, 'deadline_at' | 'expires_at' | 'ends_at' | 'state' | 'resume_state'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NINE = '09:00';
const MONDAY = 1;

/** Preset times in the recipient's time zone. */
export function presetsOf(draft: Times, { now, zone }: { now: number; zone: string }): Preset[] {
  const candidates: [string, number | null][] = [
    ['In an hour', now + HOUR_MS],
    ['In four hours', now + 4 * HOUR_MS],
    ['Tomorrow at 9', nineOn(dayAfter(now, zone, 1), zone)],
    ['In two days at 9', nineOn(dayAfter(now, zone, 2), zone)],
    ['On Monday at 9', nineOn(dayAfter(now, zone, daysToMonday(now, zone)), zone)],
  ];
  const seen = new Set<number>();
  return candidates.flatMap(([label, at]) => {
    if (at === null || seen.has(at)) return [];
    seen.add(at);
    return [{ label, at, ...judge(draft, at, now) }];
  });
}

/** The check of the server, done before the request. */
export function judge(draft: Times, at: number, now: number): { extends: boolean; fault: string | null } {
  const [deadline, expires, ends] = [draft.deadline_at, draft.expires_at, draft.ends_at].map((time) =>
    time === null ? null : Date.parse(time),
  );
  const isApproved = (draft.state === 'held' ? draft.resume_state : draft.state) === 'approved';
  const extended = expires != null && at > expires;
  if (at <= now) return { extends: false, fault: 'This time is in the past' };
  if (ends != null && at >= ends)
    return { extends: false, fault: 'Too late: the date that this email is about has passed by then' };
  if (deadline != null && at < deadline && !isApproved)
    return { extends: false, fault: 'The deadline of this draft is already later' };
  return { extends: extended, fault: null };
}

function dayAfter(now: number, zone: string, days: number): string {
  const today = Date.parse(`${localOf(now, zone).date}T00:00:00.000Z`);
  return new Date(today + days * DAY_MS).toISOString().slice(0, 10);
}

function daysToMonday(now: number, zone: string): number {
  const today = new Date(`${localOf(now, zone).date}T00:00:00.000Z`).getUTCDay();
  return (MONDAY - today + 7) % 7 || 7;
}

function nineOn(date: string, zone: string): number | null {
  return instantOf({ date, time: NINE }, zone);
}
