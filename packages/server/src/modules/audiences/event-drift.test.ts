import { expect, test } from 'vitest';
import { driftOf } from './event-routes.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const days = (...last: number[]): number[] => [...Array.from({ length: 30 - last.length }, () => 0), ...last];

test('reports an event as stopped after a day without it and five times the usual interval', () => {
  const seen = (lastAt: number, counts: number[]) => ({ lastAt, days: counts, properties: [] });
  const hourly = days(...Array.from({ length: 28 }, () => 24));
  expect(driftOf(0, seen(NOW - 0.9 * DAY, [...hourly.slice(1), 0]), NOW)).toEqual([]);
  expect(driftOf(0, seen(NOW - 1.1 * DAY, [...hourly.slice(1), 0]), NOW)[0]).toMatchObject({
    kind: 'stopped',
  });
  const weekly = days(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0);
  expect(driftOf(0, seen(NOW - 4 * DAY, weekly), NOW)).toEqual([]);
  expect(driftOf(0, seen(NOW - 20 * DAY, days(1)), NOW)).toEqual([]);
});

test('reports a later property as new and a new type of an existing one, but not a missing value', () => {
  const types = (...list: [string, number][]) => list.map(([type, firstAt]) => ({ type, firstAt }));
  const properties = [
    { property: 'old', types: types(['string', 1]) },
    { property: 'grown', types: types(['string', 1], ['number', 9]) },
    { property: 'gone', types: types(['string', 1], ['null', 9]) },
    { property: 'new', types: types(['string', 9], ['null', 8]) },
  ];
  expect(driftOf(5, { lastAt: NOW, days: days(1), properties }, NOW)).toEqual([
    { kind: 'new_type', property: 'grown', type: 'number', since: 9 },
    { kind: 'new_property', property: 'new', since: 8 },
  ]);
});
