import { expect, test } from 'vitest';
import { firstCall, nextStep } from './setup-words.ts';

test('firstCall › is valid for the API and in a shell', () => {
  const lines = firstCall('https://mail.x.org').split('\n');
  const bodies = lines.flatMap((line) => /-d '(.*)'$/.exec(line)?.[1] ?? []).map((json) => JSON.parse(json));
  expect(bodies).toEqual([
    { external_user_id: 'user_42', email: 'ada@example.com', traits: { name: 'Ada' } },
    { external_user_id: 'user_42', name: 'user_signed_up' },
  ]);
  expect(lines.filter((line) => line.startsWith('curl -sS https://mail.x.org/api/v1/'))).toHaveLength(2);
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
