import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ThrottleBucket, refill, takeTokens, type Throttle } from './limits.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const throttles: fc.Arbitrary<Throttle> = fc.record({
  emails: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5_000 })),
  perMs: fc.constantFrom(1_000, 60_000, 3_600_000),
});

test.each([
  ['10/s', { emails: 10, perMs: 1_000 }, 10],
  ['1/s', { emails: 1, perMs: 1_000 }, 1],
  ['300/m', { emails: 300, perMs: 60_000 }, 5],
  ['1/m', { emails: 1, perMs: 60_000 }, 1],
  ['5000/h', { emails: 5_000, perMs: 3_600_000 }, 2],
])("at %s allows at most one second's worth at once", (_name, throttle, burst) => {
  expect(refill(null, throttle, NOW)).toMatchObject({ remaining: burst, nextAt: NOW });
  const idle: ThrottleBucket = { tokens: 0, refilledAt: NOW - 90 * 86_400_000 };
  expect(refill(idle, throttle, NOW).remaining).toBe(burst);
  const spent = takeTokens(refill(null, throttle, NOW).bucket, burst);
  expect(refill(spent, throttle, NOW).remaining).toBe(0);
});

test('allows one email per minute, on the minute', () => {
  const throttle = { emails: 1, perMs: 60_000 };
  const spent = takeTokens(refill(null, throttle, NOW).bucket, 1);
  expect(refill(spent, throttle, NOW)).toMatchObject({ remaining: 0, nextAt: NOW + 60_000 });
  expect(refill(spent, throttle, NOW + 59_999)).toMatchObject({ remaining: 0, nextAt: NOW + 60_000 });
  expect(refill(spent, throttle, NOW + 60_000)).toMatchObject({ remaining: 1, nextAt: NOW + 60_000 });
});

test('allows everything without a throttle, and starts with a full bucket when one is set again', () => {
  expect(refill({ tokens: 0, refilledAt: NOW }, null, NOW)).toEqual({
    remaining: Infinity,
    nextAt: NOW,
    bucket: null,
  });
  expect(takeTokens(null, 5)).toBeNull();
});

test('empties the bucket without debt if more is taken than it holds', () => {
  const emptied = takeTokens({ tokens: 1, refilledAt: NOW }, 5);
  expect(refill(emptied, { emails: 1, perMs: 1_000 }, NOW)).toMatchObject({
    remaining: 0,
    nextAt: NOW + 1_000,
  });
});

test('applies a changed throttle from the next check on', () => {
  const full: ThrottleBucket = { tokens: 10, refilledAt: NOW };
  expect(refill(full, { emails: 2, perMs: 1_000 }, NOW).remaining).toBe(2);
  expect(refill({ tokens: 0, refilledAt: NOW }, { emails: 100, perMs: 1_000 }, NOW + 100).remaining).toBe(10);
});

test('pays out no time twice if a clock is behind', () => {
  const throttle = { emails: 10, perMs: 1_000 };
  let bucket = takeTokens({ tokens: 10, refilledAt: NOW + 500 }, 10);
  for (const now of [NOW, NOW + 500, NOW + 100, NOW + 500]) {
    const { remaining, nextAt, bucket: after } = refill(bucket, throttle, now);
    expect([remaining, nextAt]).toEqual([0, NOW + 600]);
    bucket = after;
  }
});

test('allows the next email at the reported time, and not a millisecond before', () => {
  fc.assert(
    fc.property(
      throttles,
      fc.array(fc.tuple(fc.nat(5_000), fc.nat(5)), { maxLength: 30 }),
      (throttle, steps) => {
        let bucket: ThrottleBucket | null = null;
        let now = NOW;
        for (const [passed, emails] of steps) {
          now += passed;
          const { remaining, bucket: here } = refill(bucket, throttle, now);
          bucket = takeTokens(here, Math.min(remaining, emails));
          const next = refill(bucket, throttle, now);
          if (next.remaining > 0) continue;
          expect(next.nextAt).toBeGreaterThan(now);
          expect(refill(bucket, throttle, next.nextAt).remaining).toBe(1);
          expect(refill(bucket, throttle, next.nextAt - 1).remaining).toBe(0);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('never exceeds the rate plus one burst in any period', () => {
  fc.assert(
    fc.property(throttles, fc.array(fc.nat(3_000), { maxLength: 60 }), (throttle, pauses) => {
      const burst = refill(null, throttle, NOW).remaining;
      const sent: { at: number; emails: number }[] = [];
      let bucket: ThrottleBucket | null = null;
      let now = NOW;
      for (const pause of pauses) {
        const { remaining, nextAt, bucket: here } = refill(bucket, throttle, now);
        bucket = takeTokens(here, remaining);
        sent.push({ at: now, emails: remaining });
        now = Math.max(now, nextAt) + pause;
      }
      let over = -Infinity;
      for (const [from, first] of sent.entries()) {
        let emails = 0;
        for (const last of sent.slice(from)) {
          emails += last.emails;
          over = Math.max(over, emails - burst - ((last.at - first.at) * throttle.emails) / throttle.perMs);
        }
      }
      expect(over).toBeLessThan(1e-6);
    }),
    { numRuns: 1_000 },
  );
});

test('neither loses nor gains from rounding over a long time', () => {
  for (const [emails, perMs] of [
    [7, 60_000],
    [3, 1_000],
    [999, 1_000],
    [5_000, 3_600_000],
    [7, 3_600_000],
  ] as const) {
    const throttle = { emails, perMs };
    const burst = refill(null, throttle, NOW).remaining;
    let bucket: ThrottleBucket | null = { tokens: 0, refilledAt: NOW };
    let now = NOW;
    for (let sent = 0; sent < 5_000;) {
      now = refill(bucket, throttle, now).nextAt;
      const { remaining, bucket: here } = refill(bucket, throttle, now);
      bucket = takeTokens(here, remaining);
      sent += remaining;
      const exact = (sent * perMs) / emails;
      expect(now - NOW - exact).toBeGreaterThan(-0.01);
      // A bucket for one email holds no fraction of the next, so each email may lose the rest of its millisecond.
      expect(now - NOW - exact).toBeLessThan(burst === 1 ? sent : 1);
    }
  }
});
