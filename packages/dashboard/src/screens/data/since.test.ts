import { expect, test } from 'vitest';
import { sinceOf } from './since.ts';

test('an export begins so many days ago to the minute, or at the beginning', () => {
  const now = new Date('2026-03-10T12:34:56.789Z');
  expect(sinceOf('7', now)).toBe('2026-03-03T12:34:00.000Z');
  expect(sinceOf('all', now)).toBeNull();
});
