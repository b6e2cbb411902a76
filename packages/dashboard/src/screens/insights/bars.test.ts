import { expect, test } from 'vitest';
import { barsOf } from './bars.ts';

test('barsOf › scales to the largest count, keeps a small count visible, and draws none for zero', () => {
  expect(barsOf([0, 1, 1_000], { width: 30, height: 40 })).toEqual([
    { x: 0, y: 40, width: 7.2, height: 0 },
    { x: 10, y: 38, width: 7.2, height: 2 },
    { x: 20, y: 0, width: 7.2, height: 40 },
  ]);
  expect(barsOf([], { width: 30, height: 40 })).toEqual([]);
});
