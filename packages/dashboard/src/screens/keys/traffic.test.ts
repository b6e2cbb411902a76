import { expect, test } from 'vitest';
import type { ApiKey } from '@beckon/contract/dashboard';
import { busiestKeys, requestsIn, rowsOf, unusedKeys } from './traffic.ts';

const key = (id: string, ...requests: number[]): ApiKey => ({
  id,
  label: id,
  display: 'sk_live_…wxyz',
  created_at: '2026-01-01T00:00:00.000Z',
  env: 'live',
  created_by: null,
  last_used_at: null,
  client: null,
  minimum_version: null,
  revoked_at: null,
  traffic: requests.map((count, index) => ({ day: `2026-01-0${index + 1}`, requests: count })),
});

test('requestsIn › counts the last days, including today', () => {
  const { traffic } = key('a', 1, 2, 4);
  expect([requestsIn(traffic, 1), requestsIn(traffic, 2), requestsIn(traffic, 9)]).toEqual([4, 6, 7]);
});

test('rowsOf and unusedKeys › return the requests of each key per day, and keys without requests', () => {
  const [a, b] = [key('a', 1, 2), key('b', 0, 0)];
  expect(rowsOf([a, b])).toEqual([
    { day: '2026-01-01', a: 1, b: 0 },
    { day: '2026-01-02', a: 2, b: 0 },
  ]);
  expect(unusedKeys([a, b], Date.parse('2026-01-15T00:00:00.000Z'))).toEqual([b]);
  expect(unusedKeys([a, b], Date.parse('2026-01-14T23:59:59.000Z'))).toEqual([]);
  expect(rowsOf([])).toEqual([]);
});

test('busiestKeys › returns the busiest keys in the order of their creation', () => {
  const [old, busy, idle] = [
    key('old', 1),
    { ...key('busy', 9), created_at: '2026-01-02T00:00:00.000Z' },
    { ...key('idle', 0), created_at: '2026-01-03T00:00:00.000Z' },
  ];
  expect(busiestKeys([busy, idle, old], 2)).toEqual([old, busy]);
});
