import { expect, test } from 'vitest';
import { createDrainRate } from './drain-rate.ts';

test('estimates when a chunk will fit from a shrinking full queue, within 1 and 60 seconds', () => {
  const rate = createDrainRate(1_000);
  expect(rate.retryAfterS(1, 50_000, 0)).toBe(10);
  expect(rate.retryAfterS(1, 49_000 + 500, 5_000)).toBe(10);
  expect(rate.retryAfterS(1, 49_500, 10_000)).toBe(60);
  expect(rate.retryAfterS(1, 10_000, 11_000)).toBe(1);
});

test('counts records accepted since the last observation as processed too', () => {
  const rate = createDrainRate(1_000);
  rate.add(1, 51_000, 0);
  // 1,000 of 51,000 in 20 s: 50 a second.
  expect(rate.retryAfterS(1, 50_000, 20_000)).toBe(20);
  rate.add(1, 40_000, 21_000);
  expect(rate.retryAfterS(1, 50_000, 30_000)).toBe(1);
});

test('gives several refusals in one moment the same answer', () => {
  const rate = createDrainRate(1_000);
  rate.add(1, 60_000, 0);
  expect(rate.retryAfterS(1, 50_000, 5_000)).toBe(1);
  expect(rate.retryAfterS(1, 50_000, 5_005)).toBe(1);
  expect(rate.retryAfterS(1, 50_000, 6_500)).toBe(60);
});

test('estimates projects separately, and forgets old observations', () => {
  const rate = createDrainRate(1_000);
  rate.retryAfterS(1, 60_000, 0);
  expect(rate.retryAfterS(2, 50_000, 1_000)).toBe(10);
  expect(rate.retryAfterS(1, 50_000, 120_000)).toBe(10);
});
