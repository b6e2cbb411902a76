import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBinaryHeap } from './binary-heap.ts';

test('returns the first item in order for any sequence of pushes and pops', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 100 }), (acts) => {
      const heap = createBinaryHeap<number>((a, b) => a - b);
      const plain: number[] = [];
      for (const act of acts) {
        if (act === null) expect(heap.pop()).toBe(plain.shift());
        else {
          heap.push(act);
          plain.push(act);
          plain.sort((a, b) => a - b);
        }
        expect(heap.first()).toBe(plain[0]);
      }
    }),
    { numRuns: 500 },
  );
});
