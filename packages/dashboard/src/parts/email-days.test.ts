import { describe, expect, test } from 'vitest';
import { changeOf, dayRows, emailFilter, growth, metricOf } from './email-days.ts';

const counts = (sent: number[]) => ({
  sent,
  opened: sent,
  clicked: sent,
  replied: sent,
  bounced: sent,
  unsubscribed: sent,
});

describe('emailFilter', () => {
  test.each([
    [{ metric: 'sent', since: '2026-03-01' }, 'sent:>2026-02-28'],
    [{ metric: 'opened', since: '2026-01-01' }, 'sent:>2025-12-31 outcome:opened'],
    [{ metric: 'sent', day: '2026-11-24', rule: 'Trial tour' }, 'rule:"Trial tour" sent:2026-11-24'],
    [
      { metric: 'replied', day: '2026-11-24', rule: 'a "b" \\' },
      'rule:"a \\"b\\" \\\\" sent:2026-11-24 outcome:replied',
    ],
  ] as const)('of %j is %s', (counted, expected) => {
    expect(emailFilter(counted)).toBe(expected);
  });
});

describe('changeOf', () => {
  test('names the direction and the share, and no share of zero', () => {
    expect([changeOf(12, 10), changeOf(5, 10), changeOf(3, 3), changeOf(0, 0), changeOf(4, 0)]).toEqual([
      { direction: 'up', words: '+20 %' },
      { direction: 'down', words: '-50 %' },
      { direction: 'same', words: 'no change' },
      { direction: 'same', words: 'no change' },
      { direction: 'up', words: '0 before' },
    ]);
    expect([growth(12, 10), growth(5, 10), growth(5, 0)]).toEqual(['+20 %', '-50 %', null]);
  });
});

describe('dayRows', () => {
  test('pairs each day with the day that is as many days earlier', () => {
    const days = ['2026-01-02', '2026-01-03'];
    expect(dayRows(days, { total: counts([1, 2]), before: counts([3, 4]) }, 'opened')).toEqual([
      { day: '2026-01-02', now: 1, before: 3 },
      { day: '2026-01-03', now: 2, before: 4 },
    ]);
    expect(dayRows(days, { total: counts([1, 2]), before: null }, 'sent')[0]?.before).toBeNull();
  });
});

describe('metricOf', () => {
  test('returns sent for an unknown metric', () => {
    expect([metricOf('clicked'), metricOf('toString'), metricOf(undefined)]).toEqual([
      'clicked',
      'sent',
      'sent',
    ]);
  });
});
