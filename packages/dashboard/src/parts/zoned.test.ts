import { expect, test } from 'vitest';
import { instantOf, localOf, tomorrowAtNine } from './zoned.ts';

const at = (text: string): number => Date.parse(text);

test('localOf and instantOf › are inverse in every zone', () => {
  for (const zone of ['UTC', 'Europe/Paris', 'America/Los_Angeles', 'Asia/Kolkata', 'Pacific/Auckland']) {
    for (const text of ['2026-01-15T11:30:00Z', '2026-07-15T23:05:00Z', '2026-12-31T23:59:00Z'])
      expect(instantOf(localOf(at(text), zone), zone)).toBe(at(text));
  }
  expect(localOf(at('2026-01-15T23:30:00Z'), 'Asia/Kolkata')).toEqual({ date: '2026-01-16', time: '05:00' });
});

test('instantOf › returns an instant for local times around a clock change', () => {
  expect(instantOf({ date: '2026-03-29', time: '03:30' }, 'Europe/Paris')).toBe(at('2026-03-29T01:30:00Z'));
  expect(instantOf({ date: '2026-03-29', time: '01:30' }, 'Europe/Paris')).toBe(at('2026-03-29T00:30:00Z'));
  expect(instantOf({ date: '2026-10-25', time: '12:00' }, 'Europe/Paris')).toBe(at('2026-10-25T11:00:00Z'));
  expect(instantOf({ date: '', time: '' }, 'UTC')).toBeNull();
});

test('tomorrowAtNine › uses the date of the zone', () => {
  expect(tomorrowAtNine(at('2026-01-15T23:30:00Z'), 'Asia/Tokyo')).toBe(at('2026-01-17T00:00:00Z'));
  expect(tomorrowAtNine(at('2026-01-15T23:30:00Z'), 'America/New_York')).toBe(at('2026-01-16T14:00:00Z'));
});
