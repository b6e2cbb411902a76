import { expect, test } from 'vitest';
import { readRetryAfter, waitBefore } from './retry.ts';

const RULE = { attempts: 4, totalMs: 60_000 };
const failed = { why: 'failed', retryAfterMs: null } as const;

test('waitBefore › spreads waits under a limit that doubles, and ends with the last attempt', () => {
  for (const [attempts, limitMs] of [
    [1, 250],
    [2, 500],
    [3, 1_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () =>
      waitBefore(failed, RULE, { attempts, turnedAway: 0, elapsedMs: 0 }),
    );
    expect(Math.max(...waits.map(Number))).toBeLessThanOrEqual(limitMs);
    expect(Math.max(...waits.map(Number)) - Math.min(...waits.map(Number))).toBeGreaterThan(limitMs / 3);
  }
  expect(waitBefore(failed, RULE, { attempts: 4, turnedAway: 0, elapsedMs: 0 })).toBeNull();
  expect(waitBefore(failed, RULE, { attempts: 4, turnedAway: 1, elapsedMs: 0 })).not.toBeNull();
});

test('waitBefore › waits at least as long as the server requests, without counting an attempt, within the total time', () => {
  const refused = { why: 'rate_limited', retryAfterMs: 5_000 } as const;
  expect(waitBefore(refused, RULE, { attempts: 50, turnedAway: 50, elapsedMs: 0 })).toBeGreaterThanOrEqual(
    5_000,
  );
  expect(waitBefore(refused, RULE, { attempts: 50, turnedAway: 50, elapsedMs: 0 })).toBeLessThanOrEqual(
    5_500,
  );
  expect(waitBefore(refused, RULE, { attempts: 1, turnedAway: 1, elapsedMs: 56_000 })).toBeNull();
  const endless = { why: 'rate_limited', retryAfterMs: 1e12 } as const;
  expect(
    waitBefore(endless, { attempts: 2, totalMs: 1e9 }, { attempts: 1, turnedAway: 1, elapsedMs: 0 }),
  ).toBeLessThanOrEqual(330_000);
});

test('waitBefore › backs off when Retry-After is in the past', () => {
  for (const why of ['rate_limited', 'failed'] as const) {
    const refused = { why, retryAfterMs: readRetryAfter('Sun, 22 Nov 2026 09:00:30 GMT', Date.now()) };
    const waits = Array.from({ length: 200 }, () =>
      waitBefore(refused, RULE, { attempts: 3, turnedAway: 0, elapsedMs: 0 }),
    );
    expect(Math.max(...waits.map(Number))).toBeGreaterThan(500);
    expect(Math.max(...waits.map(Number))).toBeLessThanOrEqual(1_000);
  }
});

test('readRetryAfter › reads seconds and dates', () => {
  const now = Date.parse('2026-11-22T10:00:00Z');
  expect(readRetryAfter('7', now)).toBe(7_000);
  expect(readRetryAfter('Sun, 22 Nov 2026 10:00:30 GMT', now)).toBe(30_000);
  expect(readRetryAfter('Sun, 22 Nov 2026 09:00:30 GMT', now)).toBe(0);
  expect([null, '', 'soon'].map((header) => readRetryAfter(header, now))).toEqual([null, null, null]);
});
