import { expect, it } from 'vitest';
import { formatRelative, formatSpan, formatTime } from './time.ts';

it('formats a time in the given zone, never in that of the browser', () => {
  const at = '2026-11-22T23:30:05.000Z';
  expect(formatTime(at, 'UTC')).toBe('22 Nov, 23:30');
  expect(formatTime(at, 'Europe/Berlin')).toBe('23 Nov, 00:30');
  expect(formatTime(at, 'America/New_York', 'long')).toBe('Sun, 22 Nov 2026, 18:30:05');
});

it('formats a duration in its two largest units, without zeros', () => {
  expect(formatSpan(0)).toBe('0 s');
  expect(formatSpan(45_000)).toBe('45 s');
  expect(formatSpan(11_400_000)).toBe('3 h 10 min');
  expect(formatSpan(7_200_000)).toBe('2 h');
  expect(formatSpan(7_230_000)).toBe('2 h');
  expect(formatSpan(-90_000)).toBe('1 min 30 s');
  expect(formatSpan(190_000_000)).toBe('2 d 4 h');
});

it('formats relative times in both directions', () => {
  const now = Date.UTC(2026, 10, 22);
  expect(formatRelative(new Date(now + 11_400_000), now)).toBe('in 3 h 10 min');
  expect(formatRelative(new Date(now - 60_000), now)).toBe('1 min ago');
  expect(formatRelative(new Date(now + 400), now)).toBe('now');
});
