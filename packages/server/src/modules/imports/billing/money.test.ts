import { expect, test } from 'vitest';
import { majorUnits } from './subscription-events.ts';

test.each([
  [1_999, 'usd', 19.99],
  [1_999, 'USD', 19.99],
  [1_500, 'jpy', 1_500],
  [4_525, 'kwd', 4.525],
  // Stripe counts these two in hundredths, although they have no subunit.
  [1_500, 'isk', 15],
  [150_000, 'ugx', 1_500],
  [-643, 'eur', -6.43],
  [0.5, 'usd', 0.01],
  [7, 'bhd', 0.007],
])('converts %d %s to %d major units', (amount, currency, expected) => {
  expect(majorUnits(amount, currency)).toBe(expected);
});
