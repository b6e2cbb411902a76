import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareBytes } from './byte-order.ts';

const byBuffer = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('sorts texts in the order of their UTF-8 bytes', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('a', 'é', '\u{D7FF}', '\u{E000}', '\u{FFFF}', '\u{10000}', '\u{10FFFF}'),
    }),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(byBuffer(a, b));
    }),
    { numRuns: 2_000 },
  );
});

test('sorts an emoji after U+FFFD, unlike the order of UTF-16 units', () => {
  expect(['\u{FFFD}', '😀'].sort()).toEqual(['😀', '\u{FFFD}']);
  expect(compareBytes('😀', '\u{FFFD}')).toBeGreaterThan(0);
  expect(compareBytes('user_1', 'user_10')).toBeLessThan(0);
  expect(compareBytes('same', 'same')).toBe(0);
});
