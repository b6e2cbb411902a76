import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMoment } from '@beckon/contract/files';
import { parseInstant } from '../../platform/time/time-text.ts';

test('readMoment › reads every time of the API as the API does', () => {
  const two = (max: number): fc.Arbitrary<string> =>
    fc.nat(max).map((number) => String(number).padStart(2, '0'));
  const parts = fc.tuple(fc.constantFrom('0000', '0001', '1969', '2026', '9999'), two(13), two(32));
  const time = fc.tuple(fc.constantFrom('T', 't'), two(25), two(61), two(61));
  const rest = fc.tuple(
    fc.constantFrom('', '.5', '.123456789'),
    fc.constantFrom('Z', 'z', '+14:59', '-15:00'),
  );
  fc.assert(
    fc.property(parts, fc.option(fc.tuple(time, rest)), (day, timeOfDay) => {
      const [[t = '', ...clock], [fraction = '', zone = '']] = timeOfDay ?? [[], []];
      const text = `${day.join('-')}${t}${clock.join(':')}${fraction}${zone}`;
      expect(readMoment(text)).toBe(parseInstant(text));
    }),
    { numRuns: 2_000 },
  );
});
