import { expect, test } from 'vitest';
import type { Grant } from '../../../platform/rate-limits/bucket.ts';
import { rateLimitHeaders } from './rate-limit.ts';

const granted = (rate: number, rest: Partial<Grant['limit']> = {}): Grant => ({
  ok: true,
  limit: { rate, burst: 2 * rate, remaining: 0, resetS: 1, ...rest },
});
const policy = (rate: number): string | undefined => rateLimitHeaders('events', granted(rate))[1];

test('a grant has the quota, the remaining requests and the time of the next one', () => {
  expect(rateLimitHeaders('events', granted(1_000, { remaining: 1_999 }))).toEqual([
    'RateLimit-Policy',
    '"events";q=1000;w=1',
    'RateLimit',
    '"events";r=1999;t=1',
  ]);
});

test('a refusal has the same two fields, and leaves Retry-After to its fault', () => {
  const limit = { rate: 0.2, burst: 1, remaining: 0, resetS: 4 };
  expect(rateLimitHeaders('users-bulk', { ok: false, retryAfterS: 4, limit })).toEqual([
    'RateLimit-Policy',
    '"users-bulk";q=1;w=5',
    'RateLimit',
    '"users-bulk";r=0;t=4',
  ]);
});

test('a fractional rate is written in whole numbers, never as more than it is', () => {
  expect(policy(0.1)).toBe('"events";q=1;w=10');
  expect(policy(2.5)).toBe('"events";q=5;w=2');
  expect(policy(1 / 3)).toBe('"events";q=1;w=3');
  expect(policy(1 / 3_600)).toBe('"events";q=1;w=3600');
  expect(policy(1 / 100_000)).toBe('"events";q=1;w=100000');
  expect(policy(Math.PI)).toBe('"events";q=3;w=1');
});

test('two endpoints with one rate keep their own names', () => {
  expect(rateLimitHeaders('users', granted(20))[1]).toBe('"users";q=20;w=1');
  expect(rateLimitHeaders('users-bulk', granted(20))[1]).toBe('"users-bulk";q=20;w=1');
});

test('thousands of different rates leave no growing memory, and the answers stay correct', () => {
  for (let rate = 1; rate <= 3_000; rate += 1) expect(policy(rate)).toBe(`"events";q=${rate};w=1`);
  expect(policy(1)).toBe('"events";q=1;w=1');
});
