import { describe, expect, test } from 'vitest';
import { axisLabel, daysBetween, dayTicks, pointWords, valueTicks } from './chart-axes.ts';

const bars = (...counts: number[]) => ({
  kind: 'bar' as const,
  rows: counts.map((count) => ({ count })),
  series: [{ name: 'count' }],
});

describe('valueTicks', () => {
  test.each([
    [[0], [0, 1]],
    [[1], [0, 1]],
    [[3], [0, 1, 2, 3]],
    [[5], [0, 2, 4, 6]],
    [[158], [0, 50, 100, 150, 200]],
    [[100], [0, 25, 50, 75, 100]],
    [[99.5], [0, 25, 50, 75, 100]],
    [[7_200], [0, 2_000, 4_000, 6_000, 8_000]],
  ])('covers %j by whole numbers at equal distances', (counts, expected) => {
    expect(valueTicks(bars(...counts))).toEqual(expected);
  });

  test('covers the sum of a stack, and the largest line', () => {
    const chart = { rows: [{ a: 3, b: 4 }], series: [{ name: 'a' }, { name: 'b' }] };
    expect(valueTicks({ ...chart, kind: 'stacked' }).at(-1)).toBe(8);
    expect(valueTicks({ ...chart, kind: 'line' }).at(-1)).toBe(4);
  });
});

describe('dayTicks', () => {
  test('returns days at equal distances, and always the last one', () => {
    const days = Array.from({ length: 30 }, (_, at) => `2026-01-${String(at + 1).padStart(2, '0')}`);
    expect(dayTicks(days).map((day) => Number(day.slice(-2)))).toEqual([5, 10, 15, 20, 25, 30]);
    expect(dayTicks(days.slice(0, 3))).toEqual(days.slice(0, 3));
    expect(dayTicks([])).toEqual([]);
  });
});

describe('daysBetween', () => {
  test('returns every day from the first to the last', () => {
    expect(daysBetween(['2026-03-01', '2026-02-27'])).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
    expect(daysBetween([])).toEqual([]);
  });
});

describe('axisLabel', () => {
  test('shortens days only', () => {
    expect(['2026-10-26', 'within 4 h', null].map(axisLabel)).toEqual(['26 Oct', 'within 4 h', '']);
  });
});

describe('pointWords', () => {
  test('names the day and the value of each series', () => {
    const series = [
      { name: 'now', label: 'Sent' },
      { name: 'before', label: 'Previous period' },
    ];
    const words = { x: 'day', series, format: String };
    expect(pointWords({ day: '2026-11-24', now: 12, before: 5 }, words)).toBe(
      '24 Nov: Sent 12, Previous period 5',
    );
    expect(pointWords({ day: 'Google', now: 0, before: null }, words)).toBe(
      'Google: Sent 0, Previous period unknown',
    );
  });
});
