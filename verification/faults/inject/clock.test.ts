import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  burstOf,
  newHealth,
  refill as refillEndpoint,
} from '../../../packages/server/src/modules/webhooks/endpoints/health.ts';
import { quietUntil } from '../../../packages/server/src/modules/delivery/gate/quiet-hours.ts';
import { refill, takeTokens } from '../../../packages/server/src/modules/delivery/gate/limits.ts';
import {
  DELAYS_MS,
  nextAttempt,
  readRetryAfter,
} from '../../../packages/server/src/modules/webhooks/deliveries/schedule.ts';
import {
  checkBreaker,
  closedBreaker,
  recordSuccess,
  recordFailure,
} from '../../../packages/server/src/platform/mail/breaker.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const START = Date.UTC(2026, 2, 29);
const RUNS = { numRuns: 2_000 };

/** Steps of a clock: mostly small, and now and then it is set by up to an hour, forward or back. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 5 * SECOND }) },
    { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: HOUR }) },
    { weight: 1, arbitrary: fc.constantFrom(-HOUR, HOUR, -1, 0, 1) },
  ),
  { minLength: 1, maxLength: 60 },
);

test('throttle allows no more emails than its rate for the time that any clock ever showed, however the clock is set', () => {
  const throttles = fc.record({
    emails: fc.integer({ min: 1, max: 500 }),
    perMs: fc.constantFrom(SECOND, MINUTE, HOUR),
  });
  fc.assert(
    fc.property(throttles, steps, (throttle, moves) => {
      const capacity = Math.max(1, Math.ceil((throttle.emails * SECOND) / throttle.perMs));
      let [now, furthest, gone] = [START, START, 0];
      let bucket = refill(null, throttle, now).bucket;
      for (const move of moves) {
        now += move;
        furthest = Math.max(furthest, now);
        const refilled = refill(bucket, throttle, now);
        expect(refilled.remaining).toBeGreaterThanOrEqual(0);
        expect(refilled.remaining).toBeLessThanOrEqual(capacity);
        gone += refilled.remaining;
        bucket = takeTokens(refilled.bucket, refilled.remaining);
        // It waits no longer than until the furthest clock has earned an email.
        const after = refill(bucket, throttle, now);
        expect(after.nextAt).toBeLessThanOrEqual(furthest + Math.ceil(throttle.perMs / throttle.emails) + 1);
      }
      expect(gone).toBeLessThanOrEqual(
        capacity + ((furthest - START) * throttle.emails) / throttle.perMs + 1,
      );
    }),
    RUNS,
  );
});

test('endpoint limit allows no more attempts than its quota, however the clock is set', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.1, max: 1_000, noNaN: true }), steps, (perSecond, moves) => {
      const limits = { perSecond, inFlightMax: 10 };
      let [now, furthest, checks] = [START, START, 0];
      let health = newHealth(perSecond, now);
      for (const move of moves) {
        now += move;
        furthest = Math.max(furthest, now);
        health = refillEndpoint(health, limits, now);
        const may = Math.floor(health.tokens);
        checks += may;
        health = { ...health, tokens: health.tokens - may };
        expect(health.tokens).toBeGreaterThanOrEqual(0);
      }
      expect(checks).toBeLessThanOrEqual(
        burstOf(perSecond) + ((furthest - START) / SECOND) * perSecond + 1e-3,
      );
    }),
    RUNS,
  );
});

test('circuit breaker retries a failed relay within a minute of the furthest clock, however the clock is set', () => {
  const acts = fc.array(
    fc.tuple(fc.constantFrom('fails', 'works', 'silent'), fc.integer({ min: -HOUR, max: HOUR })),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(acts, (moves) => {
      let [now, furthest] = [START, START];
      let breaker = closedBreaker;
      for (const [act, move] of moves) {
        now += move;
        furthest = Math.max(furthest, now);
        const decision = checkBreaker(breaker, now);
        breaker = decision.breaker;
        if (decision.isAllowed && act === 'fails') breaker = recordFailure(breaker, now);
        if (decision.isAllowed && act === 'works') breaker = recordSuccess();
        expect(breaker.openUntil).toBeLessThanOrEqual(furthest + MINUTE);
        expect(checkBreaker(breaker, furthest + MINUTE).isAllowed).toBe(true);
      }
    }),
    RUNS,
  );
});

/** Retry-After values that endpoints send, by clocks of their own. */
const retryAfter = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -10, max: 2_000_000_000 }).map(String),
  fc.integer({ min: START - DAY, max: START + 30 * DAY }).map((at) => new Date(at).toUTCString()),
  fc.string({ maxLength: 120 }),
  fc.constantFrom(
    '1e9',
    '1000000000',
    '-1',
    'Infinity',
    '0x10',
    'Thu, 31 Dec 2099 23:59:59 GMT',
    ' 5 ',
    '5.5',
  ),
);

test('webhook retry stays within its schedule and is never immediate, whatever Retry-After says', () => {
  const tries = fc.integer({ min: 1, max: DELAYS_MS.length + 2 });
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const status = fc.constantFrom(null, 200, 302, 429, 500, 503);
  fc.assert(
    fc.property(
      fc.record({
        n: tries,
        jitter: share,
        code: status,
        text: retryAfter,
        off: fc.integer({ min: -HOUR, max: HOUR }),
      }),
      ({ n, jitter, code, text, off }) => {
        const endedAt = START + off;
        const at = nextAttempt({ tries: n, endedAt, status: code, retryAfter: text }, jitter);
        const delay = DELAYS_MS[n];
        if (delay === undefined) {
          expect(at).toBeNull();
          return;
        }
        expect(at).toBeGreaterThanOrEqual(endedAt + Math.floor(0.8 * delay));
        expect(at).toBeLessThanOrEqual(endedAt + Math.ceil(2.4 * delay));
        const retryAt = readRetryAfter(text, endedAt);
        expect(retryAt === null || (Number.isFinite(retryAt) && retryAt >= 0)).toBe(true);
      },
    ),
    RUNS,
  );
});

test('quiet hours have the same end by any clock within them, and no email is sent before it', () => {
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Gaza',
  );
  const text = (minute: number): string =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const cases = fc.record({
    zone: zones,
    start: fc.integer({ min: 0, max: 1_439 }),
    end: fc.integer({ min: 0, max: 1_439 }),
    // Around the night in which clocks go forward in Europe.
    at: fc.integer({ min: START - 2 * DAY, max: START + 2 * DAY }),
    off: fc.oneof(fc.integer({ min: -HOUR, max: HOUR }), fc.constantFrom(-HOUR, HOUR, -1, 1)),
  });
  fc.assert(
    fc.property(cases, ({ zone, start, end, at, off }) => {
      const window = { start: text(start), end: text(end) };
      const until = quietUntil(at, zone, window);
      if (until === null) return;
      expect(quietUntil(until, zone, window)).toBeNull();
      const moved = quietUntil(at + off, zone, window);
      if (at + off >= at && at + off < until) expect(moved).toBe(until);
      // A clock that is behind is in the same hours, before them, or in the previous ones.
      if (at + off < at && moved !== null) expect(moved === until || moved <= at).toBe(true);
    }),
    RUNS,
  );
});
