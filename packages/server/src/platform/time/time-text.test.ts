import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInstant } from './time-text.ts';

/** The same by Temporal: the accepted forms are a subset of those that it parses. */
function parsedByTemporal(text: string): number {
  const form = /^\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:0\d|1[0-4]):[0-5]\d))?$/;
  if (text.startsWith('0000') || !form.test(text)) return Number.NaN;
  try {
    return Temporal.Instant.from(text.length === 10 ? `${text}T00:00:00Z` : text).epochMilliseconds;
  } catch {
    return Number.NaN;
  }
}

const digits = (max: number, length: number) =>
  fc.integer({ min: 0, max }).map((value) => String(value).padStart(length, '0'));
const year = fc.oneof(
  digits(9_999, 4),
  fc.constantFrom('0000', '0001', '0099', '1900', '2000', '2024', '2100'),
);
const date = fc.tuple(year, digits(13, 2), digits(32, 2)).map((parts) => parts.join('-'));
const time = fc.tuple(digits(25, 2), digits(61, 2), digits(61, 2)).map((parts) => parts.join(':'));
const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,10}$/));
const offset = fc.oneof(fc.constantFrom('Z', 'z', ''), fc.stringMatching(/^[+-][01][0-9]:[0-6][0-9]$/));
const moment = fc
  .tuple(date, fc.constantFrom('T', 't', ' '), time, fraction, offset)
  .map((parts) => parts.join(''));

describe('parseInstant', () => {
  test('returns the same as Temporal for every form it accepts, and NaN for every other text', () => {
    let valid = 0;
    fc.assert(
      fc.property(fc.oneof(date, moment), (text) => {
        const ms = parseInstant(text);
        if (!Number.isNaN(ms)) valid += 1;
        expect(ms, text).toBe(parsedByTemporal(text));
      }),
      { numRuns: 5_000 },
    );
    expect(valid).toBeGreaterThan(1_000);
  });

  test('knows the length of February', () => {
    const lasts = ['1900-02-28', '2000-02-29', '2023-02-28', '2024-02-29'];
    const none = ['1900-02-29', '2000-02-30', '2023-02-29', '2024-02-30'];
    expect(lasts.map(parseInstant)).toEqual(lasts.map((text) => Date.parse(`${text}T00:00:00Z`)));
    expect(none.map(parseInstant)).toEqual(none.map(() => Number.NaN));
  });
});
