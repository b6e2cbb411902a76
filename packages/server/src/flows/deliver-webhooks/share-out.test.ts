import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareOut } from './share-out.ts';

test('nobody gets more than they want, together no more than there is, and nobody wants while another has more', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 30 }), fc.nat(500), (wants, total) => {
      const wanted = wants.map((most, id) => ({ id, most }));
      const got = new Map(shareOut(wanted, total).map(({ id, most }) => [id, most]));
      const sum = [...got.values()].reduce((a, b) => a + b, 0);
      expect(sum).toBeLessThanOrEqual(total);
      for (const { id, most } of wanted) expect(got.get(id) ?? 0).toBeLessThanOrEqual(most);
      const unhappy = wanted
        .filter(({ id, most }) => (got.get(id) ?? 0) < most)
        .map(({ id }) => got.get(id) ?? 0);
      if (unhappy.length === 0) return;
      expect(Math.max(...unhappy) - Math.min(...unhappy)).toBeLessThanOrEqual(1);
      expect(Math.max(0, ...got.values())).toBeLessThanOrEqual(Math.min(...unhappy) + 1);
      expect(sum).toBe(total);
    }),
  );
});
