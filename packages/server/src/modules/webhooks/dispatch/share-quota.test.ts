import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareOut, shareCapacities } from './share-quota.ts';

test('gives no more than wanted or available, and shares evenly', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 30 }), fc.nat(500), (wants, total) => {
      const items = wants.map((most, id) => ({ id, most }));
      const got = new Map(shareOut(items, total).map(({ id, most }) => [id, most]));
      const sum = [...got.values()].reduce((a, b) => a + b, 0);
      expect(sum).toBeLessThanOrEqual(total);
      for (const { id, most } of items) expect(got.get(id) ?? 0).toBeLessThanOrEqual(most);
      const unhappy = items
        .filter(({ id, most }) => (got.get(id) ?? 0) < most)
        .map(({ id }) => got.get(id) ?? 0);
      if (unhappy.length === 0) return;
      expect(Math.max(...unhappy) - Math.min(...unhappy)).toBeLessThanOrEqual(1);
      expect(Math.max(0, ...got.values())).toBeLessThanOrEqual(Math.min(...unhappy) + 1);
      expect(sum).toBe(total);
    }),
  );
});

test('reserves the last slots for endpoints with almost nothing in flight', () => {
  const slow = Array.from({ length: 100 }, (_, id) => ({ id, most: 10, inFlight: 8 }));
  const quick = { id: 100, most: 10, inFlight: 0 };
  expect(shareCapacities([...slow, quick], { total: 200, reserved: 200 })).toEqual([{ ...quick, most: 2 }]);
  expect(shareCapacities([...slow, quick], { total: 0, reserved: 200 })).toEqual([]);
  expect(shareCapacities([quick], { total: 1_000, reserved: 200 })).toEqual([quick]);
});

test('gives no more than wanted or available, whatever is reserved', () => {
  const itemArbitrary = fc.record({ most: fc.integer({ min: 1, max: 50 }), inFlight: fc.nat(20) });
  fc.assert(
    fc.property(
      fc.array(itemArbitrary, { maxLength: 30 }),
      fc.nat(500),
      fc.nat(300),
      (limits, total, reserved) => {
        const items = limits.map((each, id) => ({ id, ...each }));
        const got = shareCapacities(items, { total, reserved });
        expect(got.reduce((sum, { most }) => sum + most, 0)).toBeLessThanOrEqual(total);
        for (const { id, most } of got) expect(most).toBeLessThanOrEqual(items[id]?.most ?? 0);
      },
    ),
  );
});
