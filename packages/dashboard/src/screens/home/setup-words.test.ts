import { expect, test } from 'vitest';
import { firstEmailStep, nextStep } from './setup-words.ts';

test('firstEmailStep › describes the draft that there is', () => {
  const step = (state: string, sendsAt: string | null = null) => firstEmailStep({ state, sends_at: sendsAt });
  expect(firstEmailStep(null)).toMatchObject({ page: null, text: expect.stringContaining('No draft waits') });
  expect(step('scheduled').text).toBe('Approve the draft in Review.');
  expect(step('scheduled', '2026-01-01T00:00:00.000Z').text).toBe(
    'Approve the draft in Review, or wait for its deadline.',
  );
  expect(step('held').text).toContain('is held');
  expect(step('approved')).toMatchObject({ page: 'schedule', text: expect.stringContaining('is approved') });
});

test('nextStep › returns the first required step, then an optional one', () => {
  const step = (id: 'key_created' | 'first_event' | 'team_invited', isDone: boolean, required = true) => ({
    id,
    done: isDone,
    required,
  });
  expect(
    nextStep([step('team_invited', false, false), step('key_created', true), step('first_event', false)]),
  ).toBe('first_event');
  expect(nextStep([step('team_invited', false, false), step('key_created', true)])).toBe('team_invited');
  expect(nextStep([step('key_created', true)])).toBeNull();
});
