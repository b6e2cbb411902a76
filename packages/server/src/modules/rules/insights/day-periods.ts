import { daysOf, sinceDays } from './rule-days.ts';

/** The time from `since` and before `until`, and its days. */
type Period = { since: number; until: number; days: string[] };
export type DayPeriods = { now: Period; before: Period };

/**
 * Returns the last days up to now, counting today, and the same number of days before them. Today is not over, so the period before ends at
 * the present time of day, and both have the same length.
 */
export function dayPeriods({ now, days, zone }: { now: number; days: number; zone: string }): DayPeriods {
  // The end of a period is exclusive, but an email that is claimed at this moment belongs to it.
  const until = now + 1;
  const since = sinceDays(days, { now, zone });
  const [sinceBefore, untilBefore] = [since, until].map((at) => daysEarlier(at, days, zone));
  if (sinceBefore === undefined || untilBefore === undefined) throw new Error('a period has two ends');
  return {
    now: { since, until, days: daysOf({ since, now, zone }) },
    before: {
      since: sinceBefore,
      until: Math.min(untilBefore, since),
      days: daysOf({ since: sinceBefore, now: since - 1, zone }),
    },
  };
}

function daysEarlier(at: number, days: number, zone: string): number {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).subtract({ days })
    .epochMilliseconds;
}
