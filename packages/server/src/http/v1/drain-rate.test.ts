import { expect, test } from 'vitest';
import { createDrainRate } from './drain-rate.ts';

test('a full queue that was seen to shrink tells when a chunk will fit, within 5 and 60 seconds', () => {
  const retryAfterS = createDrainRate(1_000);
  expect(retryAfterS(1, 50_000, 0)).toBe(10);
  expect(retryAfterS(1, 49_000 + 500, 5_000)).toBe(10);
  expect(retryAfterS(1, 49_500, 10_000)).toBe(60);
  expect(retryAfterS(1, 10_000, 11_000)).toBe(5);
});

test('projects are estimated apart, and old sights are forgotten', () => {
  const retryAfterS = createDrainRate(1_000);
  retryAfterS(1, 60_000, 0);
  expect(retryAfterS(2, 50_000, 1_000)).toBe(10);
  expect(retryAfterS(1, 50_000, 120_000)).toBe(10);
});
