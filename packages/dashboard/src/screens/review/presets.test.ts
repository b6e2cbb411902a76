import { expect, test } from 'vitest';
import { judge, presetsOf } from './presets.ts';

const now = Date.parse('2026-01-15T21:30:00.000Z');
const draft = {
  state: 'scheduled',
  resume_state: null,
  deadline_at: null,
  expires_at: null,
  ends_at: null,
} as const;
const at = (time: string) => `2026-01-${time}:00.000Z`;

test('presetsOf › uses 9:00 in the zone of the recipient', () => {
  const times = (zone: string) =>
    presetsOf(draft, { now, zone }).map(({ label, at: moment }) => [label, new Date(moment).toISOString()]);
  // In Tokyo it is already Friday, the 16th.
  expect(times('Asia/Tokyo')).toEqual([
    ['In an hour', at('15T22:30')],
    ['In four hours', at('16T01:30')],
    ['Tomorrow at 9', at('17T00:00')],
    ['In two days at 9', at('18T00:00')],
    ['On Monday at 9', at('19T00:00')],
  ]);
  expect(times('America/New_York')[2]).toEqual(['Tomorrow at 9', at('16T14:00')]);
});

test('judge › rejects times that the server would reject, and marks those after the expiry', () => {
  const moment = (time: string) => Date.parse(at(time));
  const due = { ...draft, deadline_at: at('16T09:00'), expires_at: at('18T09:00'), ends_at: at('20T09:00') };
  expect(judge(due, moment('15T21:00'), now).fault).toMatch(/in the past/);
  expect(judge(due, moment('16T08:00'), now).fault).toMatch(/already later/);
  expect(judge({ ...due, state: 'approved' }, moment('16T08:00'), now).fault).toBeNull();
  expect(judge(due, moment('17T09:00'), now)).toEqual({ extends: false, fault: null });
  expect(judge(due, moment('19T09:00'), now)).toEqual({ extends: true, fault: null });
  expect(judge(due, moment('20T09:00'), now).fault).toMatch(/has passed by then/);
});

test('presetsOf › merges presets of the same time', () => {
  const saturday = Date.parse('2026-01-17T12:00:00.000Z');
  expect(presetsOf(draft, { now: saturday, zone: 'UTC' }).map(({ label }) => label)).toEqual([
    'In an hour',
    'In four hours',
    'Tomorrow at 9',
    'In two days at 9',
  ]);
});
