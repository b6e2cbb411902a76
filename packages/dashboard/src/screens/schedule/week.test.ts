import type { Schedule } from '@beckon/contract/dashboard';
import { expect, test } from 'vitest';
import { cellBeside, daysOf, highest } from './week.ts';

const HOUR = 3_600_000;

function schedule(from: string, changed: Partial<Schedule> = {}): Schedule {
  return {
    now: from,
    from,
    to: new Date(Date.parse(from) + 168 * HOUR).toISOString(),
    time_zone: 'UTC',
    paused: false,
    drafts: 0,
    truncated: false,
    waits_for_review: 0,
    hours: [],
    beyond: { sends: 0, held: {}, expires: 0 },
    quiet: [],
    throttle_per_hour: null,
    policy: { quiet_hours: 'off', frequency_cap: 'off', throttle: 'off', time_zone: 'UTC' },
    ...changed,
  };
}
const plain = { band: undefined, tried: undefined };

test('daysOf › returns local days, starting with the current hour', () => {
  const days = daysOf(schedule('2026-01-15T12:00:00.000Z'), { ...plain, zone: 'UTC' });
  expect(days.map(({ cells, blanks }) => [cells.length, blanks])).toEqual([
    [12, 12],
    ...Array.from({ length: 6 }, () => [24, 0]),
    [12, 0],
  ]);
  const inParis = daysOf(schedule('2026-01-15T12:00:00.000Z'), { ...plain, zone: 'Europe/Paris' });
  expect([inParis[0]?.blanks, inParis[0]?.cells[0]?.time]).toEqual([13, '13:00']);
});

test('daysOf › has 23 or 25 hours on days of a clock change', () => {
  const spring = daysOf(schedule('2026-03-27T00:00:00.000Z'), { ...plain, zone: 'Europe/Paris' });
  const autumn = daysOf(schedule('2026-10-23T00:00:00.000Z'), { ...plain, zone: 'Europe/Paris' });
  expect(spring.find(({ date }) => date === '2026-03-29')?.cells).toHaveLength(23);
  expect(autumn.find(({ date }) => date === '2026-10-25')?.cells).toHaveLength(25);
});

test('daysOf › returns the emails, the share of quiet hours, and the tested policy for each hour', () => {
  const at = '2026-01-15T14:00:00.000Z';
  const days = daysOf(
    schedule('2026-01-15T12:00:00.000Z', {
      hours: [{ at, sends: 4, waited: { frequency_cap: 1 }, deadlines: 6 }],
      quiet: [
        {
          zone: 'UTC',
          drafts: 4,
          spans: [{ from: '2026-01-15T14:30:00.000Z', to: '2026-01-15T16:00:00.000Z' }],
        },
      ],
    }),
    { zone: 'UTC', band: 'UTC', tried: [{ at, current: 4, proposed: 9 }] },
  );
  const [, , third, fourth, fifth] = days[0]?.cells ?? [];
  expect(third).toMatchObject({ sends: 4, waited: { frequency_cap: 1 }, deadlines: 6, quiet: 0.5, tried: 9 });
  expect([fourth?.quiet, fifth?.quiet, fourth?.tried]).toEqual([1, 0, 0]);
  expect(highest(days)).toBe(9);
});

test('cellBeside › stays within the timeline', () => {
  const days = daysOf(schedule('2026-01-15T12:00:00.000Z'), { ...plain, zone: 'UTC' });
  expect(cellBeside(days, '2026-01-15T12:00:00.000Z', -1)).toBe('2026-01-15T12:00:00.000Z');
  expect(cellBeside(days, '2026-01-15T12:00:00.000Z', 24)).toBe('2026-01-16T12:00:00.000Z');
  expect(cellBeside(days, '2026-01-22T11:00:00.000Z', 24)).toBe('2026-01-22T11:00:00.000Z');
});
