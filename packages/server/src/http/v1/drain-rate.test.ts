import { expect, test } from 'vitest';
import { createDrainRate } from './drain-rate.ts';

test('a full queue that was seen to shrink tells when a chunk will fit, within 1 and 60 seconds', () => {
  const rate = createDrainRate(1_000);
  expect(rate.retryAfterS(1, 50_000, 0)).toBe(10);
  expect(rate.retryAfterS(1, 49_000 + 500, 5_000)).toBe(10);
  expect(rate.retryAfterS(1, 49_500, 10_000)).toBe(60);
  expect(rate.retryAfterS(1, 10_000, 11_000)).toBe(1);
});

test('what was let in since the last look was worked off as well', () => {
  const rate = createDrainRate(1_000);
  rate.took(1, 51_000, 0);
  // 1,000 of 51,000 in 20 s: 50 a second.
  expect(rate.retryAfterS(1, 50_000, 20_000)).toBe(20);
  rate.took(1, 40_000, 21_000);
  expect(rate.retryAfterS(1, 50_000, 30_000)).toBe(1);
});

test('several refusals in one moment are told the same', () => {
  const rate = createDrainRate(1_000);
  rate.took(1, 60_000, 0);
  expect(rate.retryAfterS(1, 50_000, 5_000)).toBe(1);
  expect(rate.retryAfterS(1, 50_000, 5_005)).toBe(1);
  expect(rate.retryAfterS(1, 50_000, 6_500)).toBe(60);
});

test('projects are estimated apart, and old sights are forgotten', () => {
  const rate = createDrainRate(1_000);
  rate.retryAfterS(1, 60_000, 0);
  expect(rate.retryAfterS(2, 50_000, 1_000)).toBe(10);
  expect(rate.retryAfterS(1, 50_000, 120_000)).toBe(10);
});
