import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Cap,
  capUntil,
  type Contender,
  heldByCap,
  slotOrder,
  remainingSlots,
  findYields,
} from './limits.ts';

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
