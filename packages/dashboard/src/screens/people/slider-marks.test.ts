import { expect, test } from 'vitest';
import { clampTo, marksBetween } from './slider-marks.ts';

test('marksBetween › returns equidistant times with both ends', () => {
  expect(marksBetween(0, 90)).toEqual([0, 30, 60, 90]);
  expect(marksBetween(5, 5)).toEqual([5]);
});

test('clampTo › keeps a time in its range', () => {
  expect([
    clampTo(-1, { min: 0, max: 9 }),
    clampTo(10, { min: 0, max: 9 }),
    clampTo(4, { min: 0, max: 9 }),
  ]).toEqual([0, 9, 4]);
});
