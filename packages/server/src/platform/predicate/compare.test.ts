import { expect, test } from 'vitest';
import { matchesWhere } from './compare.ts';
import type { PropertyTest } from './predicate.ts';

const plan: PropertyTest = { property: 'plan', test: { op: 'equals', value: 'pro' } };
const usage: PropertyTest = { property: 'usagePercent', test: { op: 'at_least', than: 80 } };

test('matches an event only if all tests pass, and any event without tests', () => {
  expect(matchesWhere([plan, usage], { plan: 'pro', usagePercent: 80 })).toBe(true);
  expect(matchesWhere([plan, usage], { plan: 'pro', usagePercent: 79 })).toBe(false);
  expect(matchesWhere([plan, usage], { usagePercent: 100 })).toBe(false);
  expect(matchesWhere([], {})).toBe(true);
});

test('ignores properties that every object inherits', () => {
  const test: PropertyTest = { property: 'constructor', test: { op: 'is_set' } };
  expect(matchesWhere([test], {})).toBe(false);
  expect(matchesWhere([test], { constructor: 'x' })).toBe(true);
});

test('compares a moment in a property with a fixed one', () => {
  const before: PropertyTest = { property: 'ends', test: { op: 'before', at: Date.UTC(2026, 0, 2) } };
  expect(matchesWhere([before], { ends: '2026-01-01' })).toBe(true);
  expect(matchesWhere([before], { ends: '2026-01-02' })).toBe(false);
});
