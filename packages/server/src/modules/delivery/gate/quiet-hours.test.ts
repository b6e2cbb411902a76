import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quietHoursInForce, quietUntil, releaseAt } from './quiet-hours.ts';
import type { QuietWindow } from './facts.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const FROM = Date.UTC(1971, 0, 1);
const TO = Date.UTC(2045, 0, 1);

type Case = { zone: string; window: QuietWindow; at: number };

/** Zones with half-hour and two-hour changes, changes at midnight, skipped and moved days, changes for Ramadan, and no changes at all. */
const ODD = [
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'America/Havana',
  'Asia/Beirut',
  'America/Santiago',
  'America/Scoresbysund',
  'Asia/Gaza',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'Pacific/Kiritimati',
  'Asia/Kathmandu',
  'America/Caracas',
  'UTC',
];
const ZONES = Intl.supportedValuesOf('timeZone');

const text = (minute: number): string => {
  const inDay = ((minute % 1440) + 1440) % 1440;
  return Temporal.PlainTime.from({ hour: Math.floor(inDay / 60), minute: inDay % 60 }).toString({
    smallestUnit: 'minute',
  });
};
const windowOf = (start: number, end: number): QuietWindow => ({ start: text(start), end: text(end) });

/** All kinds of windows: short ones, ones of almost a day, and ones without any length. */
const windows = fc
  .tuple(
    fc.nat(1439),
    fc.oneof(
      fc.nat(1439),
      fc.nat(5),
      fc.nat(5).map((m) => 1439 - m),
    ),
  )
  .map(([start, length]) => windowOf(start, start + length));

const zones = fc.oneof(fc.constantFrom(...ZONES), fc.constantFrom(...ODD));
const anywhere: fc.Arbitrary<Case> = fc.record({
  zone: zones,
  window: windows,
  at: fc.integer({ min: FROM, max: TO }),
});

const transitions = new Map<string, Temporal.ZonedDateTime[]>();
function transitionsOf(zone: string): Temporal.ZonedDateTime[] {
  const cached = transitions.get(zone);
  if (cached) return cached;
  const found: Temporal.ZonedDateTime[] = [];
  let next = Temporal.Instant.fromEpochMilliseconds(FROM)
    .toZonedDateTimeISO(zone)
    .getTimeZoneTransition('next');
  while (next && next.epochMilliseconds < TO && found.length < 300) {
    found.push(next);
    next = next.getTimeZoneTransition('next');
  }
  transitions.set(zone, found);
  return found;
}

const near = (far: number): fc.Arbitrary<number> => fc.integer({ min: -far, max: far });
/** Instants and windows around a clock change: one or both ends of the window are times that the change skips or repeats. */
const nearTransitions: fc.Arbitrary<Case> = fc
  .tuple(
    zones,
    fc.nat(),
    near(150),
    fc.oneof(near(150), fc.nat(1439)),
    fc.oneof(near(3 * HOUR), near(3 * DAY)),
    windows,
  )
  .map(([zone, which, start, end, off, window]) => {
    const all = transitionsOf(zone);
    const transition = all[which % Math.max(1, all.length)];
    if (!transition) return { zone, window, at: FROM + (which % (TO - FROM)) };
    const minute = transition.hour * 60 + transition.minute;
    const [a, b] = which % 2 === 0 ? [start, end] : [end, start];
    return { zone, window: windowOf(minute + a, minute + b), at: transition.epochMilliseconds + off };
  });
const cases = fc.oneof(anywhere, nearTransitions, nearTransitions);

const utc = (moment: string): number => Date.parse(moment);
const until = (zone: string, hours: string, moment: string): string | null => {
  const [start = '', end = ''] = hours.split('-');
  const result = quietUntil(utc(moment), zone, { start, end });
  return result === null ? null : new Date(result).toISOString().slice(0, 16).concat('Z');
};

describe('cases calculated by hand', () => {
  test.each([
    ['overnight', 'Europe/Berlin', '21:00-08:00', '2026-01-15T22:30Z', '2026-01-16T07:00Z'],
    ['the first moment', 'Europe/Berlin', '21:00-08:00', '2026-01-15T20:00Z', '2026-01-16T07:00Z'],
    ['the moment before', 'Europe/Berlin', '21:00-08:00', '2026-01-15T19:59:59.999Z', null],
    ['the last moment', 'Europe/Berlin', '21:00-08:00', '2026-01-16T06:59:59.999Z', '2026-01-16T07:00Z'],
    ['the end itself', 'Europe/Berlin', '21:00-08:00', '2026-01-16T07:00Z', null],
    ['within a day', 'Asia/Tokyo', '12:00-13:00', '2026-01-15T03:10Z', '2026-01-15T04:00Z'],
    ['no window', 'Asia/Tokyo', '12:00-12:00', '2026-01-15T03:00Z', null],
    ['to midnight', 'Asia/Tokyo', '22:00-00:00', '2026-01-15T14:00Z', '2026-01-15T15:00Z'],
    ['all but a minute', 'UTC', '08:01-08:00', '2026-01-15T08:01Z', '2026-01-16T08:00Z'],
    ['its only open minute', 'UTC', '08:01-08:00', '2026-01-15T08:00Z', null],
    ['an end that comes twice', 'Europe/Berlin', '21:00-02:30', '2026-10-25T00:30Z', '2026-10-25T01:30Z'],
    ['a start that comes twice', 'Europe/Berlin', '02:30-06:00', '2026-10-25T00:45Z', null],
    ['its second coming', 'Europe/Berlin', '02:30-06:00', '2026-10-25T01:30Z', '2026-10-25T05:00Z'],
    ['a skipped end', 'Europe/Berlin', '21:00-02:30', '2026-03-29T01:10Z', '2026-03-29T01:30Z'],
    ['a skipped start', 'Europe/Berlin', '02:30-06:00', '2026-03-29T01:15Z', null],
    ['after a skipped start', 'Europe/Berlin', '02:30-06:00', '2026-03-29T01:30Z', '2026-03-29T04:00Z'],
    ['wholly skipped', 'Europe/Berlin', '02:15-02:45', '2026-03-29T01:20Z', '2026-03-29T01:45Z'],
    ['half an hour twice', 'Australia/Lord_Howe', '22:00-01:45', '2026-04-04T14:50Z', '2026-04-04T15:15Z'],
    ['half an hour skipped', 'Australia/Lord_Howe', '22:00-02:10', '2026-10-03T15:30Z', '2026-10-03T15:40Z'],
    ['two hours skipped', 'Antarctica/Troll', '21:00-02:00', '2026-03-29T01:30Z', '2026-03-29T02:00Z'],
    ['two hours twice', 'Antarctica/Troll', '21:00-02:00', '2026-10-25T00:30Z', '2026-10-25T02:00Z'],
    ['midnight skipped', 'America/Sao_Paulo', '21:00-00:30', '2018-11-04T02:00Z', '2018-11-04T03:30Z'],
    ['midnight skipped, start', 'Africa/Cairo', '00:00-07:00', '2024-04-25T22:00Z', '2024-04-26T04:00Z'],
    ['midnight skipped, end', 'Asia/Beirut', '20:00-00:00', '2026-03-28T21:59Z', '2026-03-28T22:00Z'],
    ['before midnight twice', 'America/Sao_Paulo', '23:30-08:00', '2018-02-18T01:45Z', null],
    ['and the second time', 'America/Sao_Paulo', '23:30-08:00', '2018-02-18T02:30Z', '2018-02-18T11:00Z'],
    ['after midnight twice', 'America/Havana', '22:00-00:30', '2026-11-01T04:45Z', '2026-11-01T05:30Z'],
    ['a whole day skipped', 'Pacific/Apia', '21:00-08:00', '2011-12-30T09:00Z', '2011-12-30T18:00Z'],
    ['the day before it', 'Pacific/Apia', '08:00-21:00', '2011-12-29T20:00Z', '2011-12-30T07:00Z'],
  ])('%s', (...[, zone, hours, moment, expected]) => {
    expect(until(zone, hours, moment)).toBe(expected);
  });
});

test('returns an end after now and outside the window, with quiet hours up to it', () => {
  let quiet = 0;
  fc.assert(
    fc.property(cases, fc.double({ min: 0, max: 1, noNaN: true }), ({ zone, window, at }, part) => {
      const end = quietUntil(at, zone, window);
      if (end === null) return;
      quiet += 1;
      expect(end).toBeGreaterThan(at);
      expect(quietUntil(end, zone, window)).toBeNull();
      expect(quietUntil(end - 1, zone, window)).toBe(end);
      const between = Math.min(end - 1, Math.floor(at + (end - at) * part));
      expect(quietUntil(between, zone, window)).toBe(end);
    }),
    { numRuns: 5_000 },
  );
  expect(quiet).toBeGreaterThan(500);
});

test('depends only on the local time of day if no clock change is near', () => {
  const seen = { quiet: 0, open: 0 };
  fc.assert(
    fc.property(anywhere, ({ zone, window, at }) => {
      const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
      const change = local.subtract({ hours: 72 }).getTimeZoneTransition('next');
      if (change && change.epochMilliseconds < at + 3 * DAY) return;
      const clock = ((at + local.offsetNanoseconds / 1e6) % DAY) + (at < 0 ? DAY : 0);
      const [start, end] = [minuteOf(window.start) * MINUTE, minuteOf(window.end) * MINUTE];
      const inside =
        start < end ? clock >= start && clock < end : start > end && (clock >= start || clock < end);
      const left = (((end - clock) % DAY) + DAY) % DAY;
      expect(quietUntil(at, zone, window)).toBe(inside ? at + left : null);
      seen[inside ? 'quiet' : 'open'] += 1;
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(seen.quiet, seen.open)).toBeGreaterThan(500);
});

function minuteOf(time: string): number {
  const { hour, minute } = Temporal.PlainTime.from(time);
  return hour * 60 + minute;
}

test('continues to the next day if a clock change skips the only quiet minute', () => {
  // In Cairo the clock goes from 00:00 to 01:00 in this night, and one of our cached weeks ends within an hour of it.
  const window = { start: '00:59', end: '01:00' };
  expect(quietUntil(1_934_755_199_999, 'Africa/Cairo', window)).toBeNull();
});

describe('the spread after quiet hours', () => {
  const window = { start: '21:00', end: '08:00' };
  const end = utc('2026-01-16T08:00Z');

  test('lasts half an hour, is even, and is stable for a draft', () => {
    const ids = Array.from({ length: 3_000 }, () => randomUUID());
    const offsets = ids.map((id) => releaseAt(end, id, { zone: 'UTC', window }) - end);
    expect(ids.map((id) => releaseAt(end, id, { zone: 'UTC', window }) - end)).toEqual(offsets);
    expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...offsets)).toBeLessThan(30 * MINUTE);
    for (let tenth = 0; tenth < 10; tenth++) {
      const here = offsets.filter((ms) => Math.floor(ms / (3 * MINUTE)) === tenth);
      expect(here.length).toBeGreaterThan(180);
    }
  });

  test('never reaches into the next quiet hours, and never starts within the current ones', () => {
    let shrunk = 0;
    fc.assert(
      fc.property(cases, fc.uuid(), ({ zone, window: any, at }, id) => {
        const released = releaseAt(at, id, { zone, window: any });
        const opens = quietUntil(at, zone, any) ?? at;
        expect(quietUntil(released, zone, any)).toBeNull();
        expect(released).toBeGreaterThanOrEqual(opens);
        expect(released).toBeLessThan(opens + 30 * MINUTE);
        if (quietUntil(opens + 30 * MINUTE - 1, zone, any) !== null) shrunk += 1;
      }),
      { numRuns: 5_000 },
    );
    expect(shrunk).toBeGreaterThan(100);
  });

  test('has full length before quiet hours that a clock change skips', () => {
    // 02:10 becomes 03:10, after the end at 03:00: the clock goes from 02:00 to 03:00, which is 01:00 in UTC.
    const where = { zone: 'Europe/Berlin', window: { start: '02:10', end: '03:00' } };
    const from = utc('2026-03-29T00:55Z');
    const offsets = Array.from({ length: 500 }, () => releaseAt(from, randomUUID(), where) - from);
    expect(Math.max(...offsets)).toBeGreaterThan(25 * MINUTE);
  });

  test('shrinks to the open time', () => {
    const narrow = { start: '08:01', end: '08:00' };
    const offsets = Array.from(
      { length: 500 },
      () => releaseAt(end, randomUUID(), { zone: 'UTC', window: narrow }) - end,
    );
    expect(Math.max(...offsets)).toBeLessThan(MINUTE);
    expect(Math.max(...offsets)).toBeGreaterThan(MINUTE / 2);
  });
});

test("agrees with Python's zoneinfo in 100,000 cases if both have the same time zone rules", (ctx) => {
  const sample = fc.sample(cases, { numRuns: 100_000, seed: 20_260_115 });
  const input = sample.map(({ zone, window, at }) => JSON.stringify([zone, window.start, window.end, at]));
  const script = join(import.meta.dirname, '../../../../testing/oracles/quiet_oracle.py');
  const python = spawnSync('python3', [script, process.versions['tz'] ?? 'unknown'], {
    input: input.join('\n'),
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (python.error) return ctx.skip(`python3 cannot be started: ${python.error.message}`);
  if (python.status !== 0) throw new Error(python.stderr);
  const [head = '', ...results] = python.stdout.trimEnd().split('\n');
  const { skip } = JSON.parse(head) as { skip?: string };
  if (skip !== undefined) return ctx.skip(skip);
  expect(results).toHaveLength(sample.length);
  const resolved = results.filter((result) => result !== 'null').length;
  expect(resolved).toBeGreaterThan(sample.length * 0.9);
  const wrong = sample.flatMap((sampleCase, index) => {
    const python = JSON.parse(results[index] ?? '') as number | null;
    const ours = quietUntil(sampleCase.at, sampleCase.zone, sampleCase.window) ?? sampleCase.at;
    return python === null || ours === python ? [] : [{ ...sampleCase, ours, python }];
  });
  expect(wrong).toEqual([]);
}, 120_000);

describe('quietHoursInForce', () => {
  const kinds = fc.constantFrom('test_inbox' as const, 'relay' as const);

  test('returns the quiet hours of a project that set them, with and without a relay', () => {
    fc.assert(
      fc.property(fc.option(windows), kinds, (quietHours, kind) => {
        expect(quietHoursInForce({ quietHours, isQuietHoursSet: true }, { kind })).toBe(quietHours);
      }),
    );
  });

  test('returns the default only with a relay', () => {
    fc.assert(
      fc.property(windows, (quietHours) => {
        const settings = { quietHours, isQuietHoursSet: false };
        expect(quietHoursInForce(settings, { kind: 'relay' })).toBe(quietHours);
        expect(quietHoursInForce(settings, { kind: 'test_inbox' })).toBeNull();
      }),
    );
  });
});
