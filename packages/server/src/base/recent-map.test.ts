import { expect, test } from 'vitest';
import { recentMap } from './recent-map.ts';

test('it never holds more than its bound, and what is used stays', () => {
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

test('what was written last is what is read, in whichever generation the older value lies', () => {
  const map = recentMap<number>(4);
  map.set('a', 1);
  map.set('b', 1);
  map.set('a', 2);
  expect(map.get('a')).toBe(2);
  map.set('c', 1);
  expect(map.get('a')).toBe(2);
});

test('what is deleted is gone from both generations', () => {
  const map = recentMap<number>(4);
  map.set('a', 1);
  map.set('b', 1);
  map.set('a', 1);
  map.deleteWhere((value) => value === 1);
  expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined]);
});
