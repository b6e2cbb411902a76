import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fault } from '../fault.ts';
import { matches } from './filter.ts';
import { readFilter } from './parse.ts';

const VOCABULARY = { at: { isTime: true } } as const;
const isIn = (filter: string, zone: string, at: string): boolean =>
  matches(readFilter(filter, VOCABULARY, zone), { at });
const hoursOf = (day: string, zone: string): number => {
  const { spans = [] } = readFilter(`at:${day}`, VOCABULARY, zone).terms[0] ?? {};
  const [{ from, until } = { from: null, until: null }] = spans;
  return ((until ?? 0) - (from ?? 0)) / 3_600_000;
};

/** Zones with a half hour, with a change of the clock at midnight, and at both ends of the date line. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Africa/Cairo',
];

describe('days in a filter', () => {
  test('are days of the zone', () => {
    expect(isIn('at:2026-11-03', 'Asia/Tokyo', '2026-11-02T15:00:00.000Z')).toBe(true);
    expect(isIn('at:2026-11-03', 'Asia/Tokyo', '2026-11-02T14:59:59.999Z')).toBe(false);
    expect(isIn('at:2026-11-03', 'UTC', '2026-11-02T15:00:00.000Z')).toBe(false);
    expect(isIn('at:>2026-11-01', 'America/New_York', '2026-11-02T05:00:00.000Z')).toBe(true);
    expect(isIn('at:>2026-11-01', 'America/New_York', '2026-11-02T04:59:59.999Z')).toBe(false);
    expect(isIn('at:<2026-11-01', 'America/New_York', '2026-11-01T03:59:59.999Z')).toBe(true);
  });

  test('have 23 or 25 hours when the clock changes', () => {
    expect(hoursOf('2026-03-29', 'Europe/Berlin')).toBe(23);
    expect(hoursOf('2026-10-25', 'Europe/Berlin')).toBe(25);
    expect(hoursOf('2026-11-01', 'America/New_York')).toBe(25);
    expect(hoursOf('2026-04-05', 'Australia/Lord_Howe')).toBe(24.5);
    expect(hoursOf('2026-11-03', 'Europe/Berlin')).toBe(24);
    // Midnight does not exist on this day.
    expect(hoursOf('2026-09-06', 'America/Santiago')).toBe(23);
  });

  test('contain the times whose local date is the day, in any zone', () => {
    const zone = fc.constantFrom(...ZONES);
    // Around a change of the clock in one of the zones, and anywhere.
    const at = fc.oneof(
      fc.integer({ min: Date.parse('1995-01-01'), max: Date.parse('2045-01-01') }),
      fc
        .tuple(
          fc.constantFrom('2026-03-29', '2026-10-25', '2026-11-01', '2026-09-06', '2026-04-24'),
          fc.integer({ min: -30, max: 54 }),
        )
        .map(([day, hours]) => Date.parse(day) + hours * 3_600_000),
    );
    const offset = fc.integer({ min: -2, max: 2 });
    fc.assert(
      fc.property(zone, at, offset, (zone, at, offset) => {
        const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
        const day = local.add({ days: offset }).toString();
        const time = new Date(at).toISOString();
        expect(isIn(`at:${day}`, zone, time)).toBe(offset === 0);
        expect(isIn(`at:<${day}`, zone, time)).toBe(offset > 0);
        expect(isIn(`at:>${day}`, zone, time)).toBe(offset < 0);
        expect(isIn(`-at:${day}`, zone, time)).toBe(offset !== 0);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a time in a filter is the same in every zone', () => {
  for (const zone of ZONES) {
    expect(isIn('at:>2026-11-03T10:00:00Z', zone, '2026-11-03T10:00:00.001Z')).toBe(true);
    expect(isIn('at:>2026-11-03T10:00:00Z', zone, '2026-11-03T10:00:00.000Z')).toBe(false);
    expect(isIn('at:2026-11-03T10:00:00+01:00', zone, '2026-11-03T09:00:00.000Z')).toBe(true);
  }
});

test('refuses values that are no times', () => {
  for (const value of ['yesterday', '2026-02-30', '2026-11-*', '>', '2026-11'])
    expect(() => readFilter(`at:${value}`, VOCABULARY, 'UTC')).toThrow(Fault);
});

test('a row without a time passes every negated term and no other one', () => {
  const filter = (text: string) => readFilter(text, VOCABULARY, 'UTC');
  expect(matches(filter('at:2026-11-03'), {})).toBe(false);
  expect(matches(filter('-at:2026-11-03'), {})).toBe(true);
});
