import { expect, test } from 'vitest';
import { recentMap } from './recent-map.ts';

test('never exceeds its bound, and keeps used entries', () => {
  const map = recentMap<number>(10);
  map.set('kept', -1);
  for (let i = 0; i < 1_000; i += 1) {
    map.set(`n${i}`, i);
    expect(map.get('kept')).toBe(-1);
  }
  const held = Array.from({ length: 1_000 }, (_, i) => map.get(`n${i}`)).filter(
    (value) => value !== undefined,
  );
  expect(held.length).toBeLessThanOrEqual(10);
});

test('returns the latest value, whichever generation has the older one', () => {
  const map = recentMap<number>(4);
  map.set('a', 1);
  map.set('b', 1);
  map.set('a', 2);
  expect(map.get('a')).toBe(2);
  map.set('c', 1);
  expect(map.get('a')).toBe(2);
});

test('deletes a key from both generations', () => {
  const map = recentMap<number>(4);
  map.set('a', 1);
  map.set('b', 1);
  map.set('a', 1);
  map.deleteWhere((value) => value === 1);
  expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined]);
});
