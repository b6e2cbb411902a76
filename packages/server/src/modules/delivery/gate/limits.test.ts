import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Contender, slotOrder, findYields, refill, takeTokens, type Throttle } from './limits.ts';
import type { ThrottleBucket } from '../../sending/emails/send-lock.ts';
import { type Cap, capUntil, heldByCap, remainingSlots } from '../../sending/emails/caps.ts';

describe('frequency cap', () => {
  const HOUR = 3_600_000;
  const NOW = 1_000 * HOUR;
  const DAILY: Cap = { emails: 1, windowMs: 24 * HOUR };
  const WEEKLY: Cap = { emails: 3, windowMs: 7 * 24 * HOUR };

  const caps = fc.array(
    fc.record({ emails: fc.integer({ min: 1, max: 4 }), windowMs: fc.integer({ min: 1, max: 12 }) }),
    { maxLength: 3 },
  );
  /** Small numbers, so that windows end where others begin. Some claims come from a clock that is ahead. */
  const claims = fc
    .array(fc.integer({ min: -15, max: 2 }), { maxLength: 8 })
    .map((all) => all.toSorted((a, b) => b - a));

  /** The simplest implementation: counts the claims in a window that ends at `at`. */
  const within = (claimed: number[], cap: Cap, at: number): number =>
    claimed.filter((claim) => claim > at - cap.windowMs).length;
  const isOpen = (all: Cap[], claimed: number[], at: number): boolean =>
    all.every((cap) => within(claimed, cap, at) < cap.emails);

  test('holds an email until the first time at which every window has a slot', () => {
    fc.assert(
      fc.property(caps, claims, (all, claimed) => {
        let first = 0;
        while (!isOpen(all, claimed, first)) first += 1;
        expect(capUntil(all, claimed, 0)).toBe(first === 0 ? null : first);
      }),
      { numRuns: 3_000 },
    );
  });

  test('never exceeds a cap in any window if only emails that pass are sent', () => {
    fc.assert(
      fc.property(caps, fc.array(fc.nat(3), { maxLength: 40 }), (all, steps) => {
        let claimed: number[] = [];
        let now = 0;
        for (const step of steps) {
          now += step;
          if (capUntil(all, claimed, now) !== null) continue;
          claimed = [now, ...claimed];
          for (const cap of all) expect(within(claimed, cap, now)).toBeLessThanOrEqual(cap.emails);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('reports the cap that opens last', () => {
    const claimed = [NOW - 23 * HOUR, NOW - 100 * HOUR, NOW - 101 * HOUR];
    expect(heldByCap([DAILY, WEEKLY], claimed, NOW)).toEqual({ cap: WEEKLY, until: NOW + 67 * HOUR });
    expect(heldByCap([WEEKLY, DAILY], claimed, NOW)).toEqual({ cap: WEEKLY, until: NOW + 67 * HOUR });
    expect(heldByCap([DAILY, WEEKLY], claimed.slice(0, 2), NOW)).toEqual({ cap: DAILY, until: NOW + HOUR });
    expect(heldByCap([DAILY], [NOW - 24 * HOUR], NOW)).toBeNull();
    expect(heldByCap([DAILY], [NOW - 24 * HOUR + 1], NOW)).toEqual({ cap: DAILY, until: NOW + 1 });
  });

  test('returns as many slots as emails would pass one after the other', () => {
    fc.assert(
      fc.property(
        caps.filter((all) => all.length > 0),
        claims,
        (all, claimed) => {
          let more = 0;
          // A claim made now is the newest, unless another clock is ahead.
          const after = () => [...claimed, ...Array<number>(more).fill(0)].toSorted((a, b) => b - a);
          while (capUntil(all, after(), 0) === null) more += 1;
          expect(remainingSlots(all, claimed, 0)).toBe(more);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(remainingSlots(null, [0], 0)).toBe(Infinity);
    expect(remainingSlots([], [0], 0)).toBe(Infinity);
  });

  const contenders = fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      priority: fc.nat(2),
      deadlineAt: fc.nat(2),
    }),
    { selector: ({ id }) => id, maxLength: 6 },
  );

  test('gives the slot to the higher priority, then the earlier deadline, then the smaller id', () => {
    const a: Contender = { id: 'a', priority: 5, deadlineAt: NOW };
    const b: Contender = { id: 'b', priority: 9, deadlineAt: NOW + HOUR };
    const c: Contender = { id: 'c', priority: 9, deadlineAt: NOW };
    const d: Contender = { id: 'd', priority: 9, deadlineAt: NOW };
    expect([a, b, d, c].toSorted(slotOrder).map(({ id }) => id)).toEqual(['c', 'd', 'b', 'a']);
    expect(findYields([a, b, d, c], 1)).toEqual(
      new Map([
        ['d', c],
        ['b', c],
        ['a', c],
      ]),
    );
  });

  test('names a contender with a better claim for each that yields, and passes one per slot', () => {
    fc.assert(
      fc.property(contenders, fc.nat(7), (all, slots) => {
        const yields = findYields(all, slots);
        const goes = all.filter(({ id }) => !yields.has(id));
        expect(goes).toHaveLength(slots === 0 ? all.length : Math.min(slots, all.length));
        for (const contender of all) {
          const better = all.filter((other) => slotOrder(other, contender) < 0);
          expect(yields.has(contender.id)).toBe(slots > 0 && better.length >= slots);
          const winner = yields.get(contender.id);
          if (!winner) continue;
          expect(better).toContain(winner);
          expect(goes).toContain(winner);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(findYields([{ id: 'a', priority: 1, deadlineAt: 0 }], Infinity).size).toBe(0);
  });

  test('orders contenders totally', () => {
    fc.assert(
      fc.property(contenders, (all) => {
        for (const a of all) {
          for (const b of all) {
            expect(Math.sign(slotOrder(a, b)) + Math.sign(slotOrder(b, a))).toBe(0);
            expect(slotOrder(a, b) === 0).toBe(a.id === b.id);
            for (const c of all) {
              if (slotOrder(a, b) < 0 && slotOrder(b, c) < 0) expect(slotOrder(a, c)).toBeLessThan(0);
            }
          }
        }
      }),
    );
  });
});

describe('throttle', () => {
  const NOON = Date.UTC(2026, 0, 15, 12);
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
    expect(refill(null, throttle, NOON)).toMatchObject({ remaining: burst, nextAt: NOON });
    const idle: ThrottleBucket = { tokens: 0, refilledAt: NOON - 90 * 86_400_000 };
    expect(refill(idle, throttle, NOON).remaining).toBe(burst);
    const spent = takeTokens(refill(null, throttle, NOON).bucket, burst);
    expect(refill(spent, throttle, NOON).remaining).toBe(0);
  });

  test('allows one email per minute, on the minute', () => {
    const throttle = { emails: 1, perMs: 60_000 };
    const spent = takeTokens(refill(null, throttle, NOON).bucket, 1);
    expect(refill(spent, throttle, NOON)).toMatchObject({ remaining: 0, nextAt: NOON + 60_000 });
    expect(refill(spent, throttle, NOON + 59_999)).toMatchObject({ remaining: 0, nextAt: NOON + 60_000 });
    expect(refill(spent, throttle, NOON + 60_000)).toMatchObject({ remaining: 1, nextAt: NOON + 60_000 });
  });

  test('allows everything without a throttle, and starts with a full bucket when one is set again', () => {
    expect(refill({ tokens: 0, refilledAt: NOON }, null, NOON)).toEqual({
      remaining: Infinity,
      nextAt: NOON,
      bucket: null,
    });
    expect(takeTokens(null, 5)).toBeNull();
  });

  test('empties the bucket without debt if more is taken than it holds', () => {
    const emptied = takeTokens({ tokens: 1, refilledAt: NOON }, 5);
    expect(refill(emptied, { emails: 1, perMs: 1_000 }, NOON)).toMatchObject({
      remaining: 0,
      nextAt: NOON + 1_000,
    });
  });

  test('applies a changed throttle from the next check on', () => {
    const full: ThrottleBucket = { tokens: 10, refilledAt: NOON };
    expect(refill(full, { emails: 2, perMs: 1_000 }, NOON).remaining).toBe(2);
    expect(refill({ tokens: 0, refilledAt: NOON }, { emails: 100, perMs: 1_000 }, NOON + 100).remaining).toBe(
      10,
    );
  });

  test('pays out no time twice if a clock is behind', () => {
    const throttle = { emails: 10, perMs: 1_000 };
    let bucket = takeTokens({ tokens: 10, refilledAt: NOON + 500 }, 10);
    for (const now of [NOON, NOON + 500, NOON + 100, NOON + 500]) {
      const { remaining, nextAt, bucket: after } = refill(bucket, throttle, now);
      expect([remaining, nextAt]).toEqual([0, NOON + 600]);
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
          let now = NOON;
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
        const burst = refill(null, throttle, NOON).remaining;
        const sent: { at: number; emails: number }[] = [];
        let bucket: ThrottleBucket | null = null;
        let now = NOON;
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
      const burst = refill(null, throttle, NOON).remaining;
      let bucket: ThrottleBucket | null = { tokens: 0, refilledAt: NOON };
      let now = NOON;
      for (let sent = 0; sent < 5_000;) {
        now = refill(bucket, throttle, now).nextAt;
        const { remaining, bucket: here } = refill(bucket, throttle, now);
        bucket = takeTokens(here, remaining);
        sent += remaining;
        const exact = (sent * perMs) / emails;
        expect(now - NOON - exact).toBeGreaterThan(-0.01);
        // A bucket for one email holds no fraction of the next, so each email may lose the rest of its millisecond.
        expect(now - NOON - exact).toBeLessThan(burst === 1 ? sent : 1);
      }
    }
  });
});
