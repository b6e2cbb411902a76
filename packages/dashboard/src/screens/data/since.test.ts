import { expect, test } from 'vitest';
import { sinceOf } from './since.ts';

test('sinceOf › goes back by days, rounded to the minute, or returns null for all data', () => {
  const now = new Date('2026-03-10T12:34:56.789Z');
  expect(sinceOf('7', now)).toBe('2026-03-03T12:34:00.000Z');
  expect(sinceOf('all', now)).toBeNull();
});
