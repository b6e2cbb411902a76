import { describe, expect, test } from 'vitest';
import { dayPeriods } from './day-periods.ts';

const at = (text: string): number => Date.parse(text);

describe('dayPeriods', () => {
  test('returns days of the zone, and the same number of days before, up to the same time of day', () => {
    expect(dayPeriods({ now: at('2026-01-10T00:30:00Z'), days: 3, zone: 'Europe/Berlin' })).toEqual({
      now: {
        since: at('2026-01-07T23:00:00Z'),
        until: at('2026-01-10T00:30:00.001Z'),
        days: ['2026-01-08', '2026-01-09', '2026-01-10'],
      },
      before: {
        since: at('2026-01-04T23:00:00Z'),
        until: at('2026-01-07T00:30:00.001Z'),
        days: ['2026-01-05', '2026-01-06', '2026-01-07'],
      },
    });
  });

  test('keeps whole days across a change of the clock, and ends before the current period', () => {
    const { now, before } = dayPeriods({
      now: at('2026-03-29T21:59:59.999Z'),
      days: 1,
      zone: 'Europe/Berlin',
    });
    expect([now.since, before.since]).toEqual([at('2026-03-28T23:00:00Z'), at('2026-03-27T23:00:00Z')]);
    expect(before.until).toBe(now.since);
    expect([now.days, before.days]).toEqual([['2026-03-29'], ['2026-03-28']]);
  });
});
