import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DELAYS_MS,
  type FailedAttempt,
  jitterShare,
  nextAttempt,
  readRetryAfter,
  TRIES_MAX,
} from './schedule.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function failed(tries: number, more: Partial<FailedAttempt> = {}): FailedAttempt {
  return { tries, endedAt: NOW, status: 500, retryAfter: null, ...more };
}

test('tries ten times within about 75 hours, and then gives up', () => {
  const middle = (tries: number): number => (nextAttempt(failed(tries), 0.5) ?? NaN) - NOW;
  const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tries) => middle(tries) / 1_000);
  expect(seconds).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(seconds.reduce((a, b) => a + b) / 3_600).toBeCloseTo(75.6, 1);
  expect(nextAttempt(failed(TRIES_MAX), 0.5)).toBeNull();
});

test('varies a delay by a fifth at most, and lets Retry-After double it at most', () => {
  const texts = fc.oneof(fc.constant(null), fc.string(), fc.nat().map(String));
  const failures = fc.record({
    tries: fc.integer({ min: 1, max: 9 }),
    status: fc.constantFrom(null, 302, 400, 429, 500, 503),
    retryAfter: texts,
  });
  fc.assert(
    fc.property(failures, share, ({ tries, status, retryAfter }, at) => {
      const delay = DELAYS_MS[tries] ?? 0;
      const plain = (nextAttempt(failed(tries), at) ?? NaN) - NOW;
      expect(plain).toBeGreaterThanOrEqual(Math.floor(0.8 * delay));
      expect(plain).toBeLessThanOrEqual(Math.ceil(1.2 * delay));
      const delayMs = (nextAttempt(failed(tries, { status, retryAfter }), at) ?? NaN) - NOW;
      expect(delayMs).toBeGreaterThanOrEqual(plain);
      expect(delayMs).toBeLessThanOrEqual(2 * plain);
      if (status !== 429 && status !== 503) expect(delayMs).toBe(plain);
    }),
  );
});

test.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['Thu, 15 Jan 2026 12:00:30 GMT', 30_000],
  ['Thu, 15 Jan 2026 11:00:00 GMT', 0],
  ['2026-01-15T12:00:30Z', null],
  ['-5', null],
  ['soon', null],
  ['', null],
  [null, null],
])('reads Retry-After %j as %j', (text, ms) => {
  expect(readRetryAfter(text, NOW)).toBe(ms);
});

test('uses the same jitter for an attempt in every process, evenly spread', () => {
  const ids = Array.from({ length: 1_000 }, (_, i) => `message ${i}`);
  const shares = ids.map((id) => jitterShare(id, 'endpoint', 1));
  expect(shares).toEqual(ids.map((id) => jitterShare(id, 'endpoint', 1)));
  expect(Math.min(...shares)).toBeLessThan(0.02);
  expect(Math.max(...shares)).toBeGreaterThan(0.98);
  expect(shares.reduce((a, b) => a + b) / shares.length).toBeCloseTo(0.5, 1);
});
