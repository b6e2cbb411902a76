import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Predicate } from '../../../platform/predicate/predicate.ts';
import { advance, endRun, lostAfter, onEvent, onTime, moveRunTo, nextLocalMoment } from './advance-run.ts';
import { compile, type ProgramStep } from './program.ts';
import type { Run } from './run.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PRO: Predicate = { kind: 'trait', trait: 'plan', test: { op: 'equals', value: 'pro' } };
const email = { name: 'hello' };
const draft: ProgramStep = { kind: 'draft', email };

const from = (step: number, holds = false) => ({ step, now: NOW, zone: 'UTC', branch: () => holds });

test('stops at the first step with a wait, and returns how long it waits', () => {
  const program = compile([
    draft,
    { kind: 'wait', ms: DAY },
    {
      kind: 'wait_for',
      event: 'invited',
      where: [{ property: 'seats', test: { op: 'at_least', than: 3 } }],
      timeoutMs: 2 * DAY,
      then: [{ kind: 'end' }],
      otherwise: [draft],
    },
  ]);
  expect(advance(program, from(0))).toEqual({ step: 0, stop: { kind: 'draft', email } });
  expect(advance(program, from(1))).toEqual({ step: 1, stop: { kind: 'time', nextAt: NOW + DAY } });
  expect(advance(program, from(2))).toEqual({ step: 2, stop: { kind: 'event', nextAt: NOW + 2 * DAY } });
  const seen = (name: string, seats: number) => onEvent(program, 2, { name, properties: { seats } });
  expect([
    seen('invited', 2),
    seen('left', 3),
    onEvent(program, 1, { name: 'invited', properties: {} }),
  ]).toEqual([null, null, null]);
  expect(advance(program, from(seen('invited', 3) ?? -1)).stop).toEqual({ kind: 'end' });
  expect(advance(program, from(onTime(program, 2))).stop).toEqual({ kind: 'draft', email });
  expect(advance(program, from(onTime(program, 1))).step).toBe(2);
  expect(() => advance(program, from(99))).toThrow('step 99');
});

test('subtracts only fixed waits from the time that a restore lost', () => {
  const program = compile([
    { kind: 'wait', ms: HOUR },
    { kind: 'wait_until', at: '09:00', weekdays: [1] },
    { kind: 'wait_for', event: 'x', where: [], timeoutMs: DAY, then: [], otherwise: [] },
    draft,
  ]);
  const left = (step: number, lostMs: number | null): number | null =>
    lostAfter(program, { step, stop: { kind: 'end' } }, lostMs);
  expect([left(0, DAY), left(0, HOUR), left(0, HOUR - 1), left(0, null)]).toEqual([
    DAY - HOUR,
    0,
    null,
    null,
  ]);
  expect([left(1, 5), left(2, 5), left(program.length - 2, 5)]).toEqual([5, 5, 5]);
});

test('evaluates a condition when the run reaches it', () => {
  const program = compile([{ kind: 'branch', if: PRO, then: [{ kind: 'end' }], otherwise: [draft] }]);
  const predicates: Predicate[] = [];
  const branch = (predicate: Predicate): boolean => predicates.push(predicate) === 0;
  expect(advance(program, { ...from(0), branch }).stop).toEqual({ kind: 'draft', email });
  expect(predicates).toEqual([PRO]);
  expect(advance(program, from(0, true)).stop).toEqual({ kind: 'end' });
});

const run: Run = {
  projectId: 1,
  id: '0198a000-0000-7000-8000-000000000001',
  ruleId: '0198a000-0000-7000-8000-000000000002',
  version: 1,
  userId: 'u1',
  key: '',
  state: 'active',
  variant: 'treatment',
  single: false,
  step: 0,
  waitsFor: 'time',
  nextAt: NOW,
  anchor: { kind: 'event', id: 'e', name: 'e', properties: {}, occurredAt: 0, acceptedAt: 0, seq: 1 },
  endsAt: null,
  enrolledAt: NOW - DAY,
  goalUntil: NOW + DAY,
  convertedAt: null,
  endedAt: null,
  endReason: null,
  lostMs: null,
};

test('waits for the step it is at, and ends at the end of the program with its goal still open', () => {
  expect(moveRunTo(run, { step: 3, stop: { kind: 'draft', email } }, NOW)).toMatchObject({
    step: 3,
    waitsFor: 'draft',
    nextAt: null,
    state: 'active',
  });
  expect(moveRunTo(run, { step: 3, stop: { kind: 'event', nextAt: NOW + 5 } }, NOW)).toMatchObject({
    waitsFor: 'event',
    nextAt: NOW + 5,
  });
  const ended = moveRunTo({ ...run, state: 'paused' }, { step: 4, stop: { kind: 'end' } }, NOW);
  expect(ended).toEqual({
    ...run,
    step: 4,
    state: 'ended',
    waitsFor: null,
    nextAt: null,
    endedAt: NOW,
    endReason: 'done',
  });
  expect(endRun(ended, 'exit_event', NOW + 1)).toEqual(ended);
});

const local = (text: string): number => Temporal.ZonedDateTime.from(text).epochMilliseconds;
const next = (weekdays: number[], at: string, nowText: string): string => {
  const now = Temporal.ZonedDateTime.from(nowText);
  const moment = nextLocalMoment({ weekdays, at }, { now: now.epochMilliseconds, zone: now.timeZoneId });
  return Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(now.timeZoneId).toString();
};

test.each<[string, { weekdays: number[]; at: string; now: string; moment: string }]>([
  [
    'later today',
    {
      weekdays: [],
      at: '09:00',
      now: '2026-01-15T08:59:59.999+01:00[Europe/Berlin]',
      moment: '2026-01-15T09:00:00+01:00[Europe/Berlin]',
    },
  ],
  [
    'tomorrow, if it is over',
    {
      weekdays: [],
      at: '09:00',
      now: '2026-01-15T09:00:00.001+01:00[Europe/Berlin]',
      moment: '2026-01-16T09:00:00+01:00[Europe/Berlin]',
    },
  ],
  [
    'on the next of these days',
    {
      weekdays: [1, 2],
      at: '09:00',
      now: '2026-01-16T10:00:00-05:00[America/New_York]',
      moment: '2026-01-19T09:00:00-05:00[America/New_York]',
    },
  ],
  [
    'in a week, if it is over today',
    {
      weekdays: [4],
      at: '09:00',
      now: '2026-01-15T10:00:00+00:00[UTC]',
      moment: '2026-01-22T09:00:00+00:00[UTC]',
    },
  ],
  [
    'an hour later, where the clocks leave it out',
    {
      weekdays: [7],
      at: '02:30',
      now: '2026-03-29T00:00:00+01:00[Europe/Berlin]',
      moment: '2026-03-29T03:30:00+02:00[Europe/Berlin]',
    },
  ],
  [
    'the second time, where they show it twice',
    {
      weekdays: [7],
      at: '02:30',
      now: '2026-10-25T02:30:00+02:00[Europe/Berlin]',
      moment: '2026-10-25T02:30:00+01:00[Europe/Berlin]',
    },
  ],
  [
    'a week later, where the zone never had the day',
    {
      weekdays: [5],
      at: '09:00',
      now: '2011-12-28T09:00:00-10:00[Pacific/Apia]',
      moment: '2012-01-06T09:00:00+14:00[Pacific/Apia]',
    },
  ],
])("waits for a time of day in the user's time zone: %s", (_, { weekdays, at, now, moment }) => {
  expect(next(weekdays, at, now)).toBe(moment);
});

test('continues immediately at exactly the time that it waits for', () => {
  const program = compile([{ kind: 'wait_until', weekdays: [4], at: '09:00' }, draft]);
  const now = local('2026-01-15T09:00:00-05:00[America/New_York]');
  const at = (moment: number) =>
    advance(program, { step: 0, now: moment, zone: 'America/New_York', branch: () => false });
  expect(at(now)).toEqual({ step: 1, stop: { kind: 'draft', email } });
  expect(at(now - 1)).toEqual({ step: 0, stop: { kind: 'time', nextAt: now } });
});

test('never returns a past time, keeps to the weekdays, and waits a week and an hour at most', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Africa/Cairo',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
  ];
  const inputs = fc.record({
    now: fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) }),
    zone: fc.constantFrom(...zones),
    weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 })),
    minute: fc.integer({ min: 0, max: 24 * 60 - 1 }),
  });
  fc.assert(
    fc.property(inputs, ({ now, zone, weekdays, minute }) => {
      const at = Temporal.PlainTime.from({ hour: Math.floor(minute / 60), minute: minute % 60 });
      const moment = nextLocalMoment({ weekdays, at: at.toString().slice(0, 5) }, { now, zone });
      expect(moment).toBeGreaterThanOrEqual(now);
      expect(moment - now).toBeLessThanOrEqual(7 * DAY + 2 * HOUR);
      const local = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(zone);
      if (weekdays.length > 0) expect(weekdays).toContain(local.dayOfWeek);
      const late = at.until(local.toPlainTime()).total('minutes');
      // Some zones move their clocks forward by this much.
      expect([0, 30, 60]).toContain(late);
    }),
    { numRuns: 2_000 },
  );
});
