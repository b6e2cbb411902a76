import { expect, test } from 'vitest';
import { variablesCheck } from './unknown-variables.ts';

const known = { people: 5, names: ['user.name', 'user.plan', 'user.email'] };

test('variablesCheck › names variables without a user, with the most similar one', () => {
  const variables = [
    { name: 'user.nam', share: 0 },
    { name: 'user.favourite_colour', share: 0 },
    { name: 'user.plan', share: 0.4 },
    { name: 'event.title', share: null },
  ];
  expect(variablesCheck(variables, known)).toMatchObject([
    {
      name: 'variables',
      status: 'warning',
      message:
        'None of the 5 users that were checked has a value for these variables. Drafts without a default are held.',
      detail: ['user.nam: did you mean user.name?', 'user.favourite_colour'],
    },
  ]);
});

test('variablesCheck › finds nothing without users, or if a user has each variable', () => {
  expect(variablesCheck([{ name: 'user.nam', share: 0 }], { ...known, people: 0 })).toEqual([]);
  expect(variablesCheck([{ name: 'user.name', share: 0.1 }], known)).toEqual([]);
});

test('variablesCheck › names one checked user in the singular', () => {
  const [check] = variablesCheck([{ name: 'user.nam', share: 0 }], { ...known, people: 1 });
  expect(check?.message).toBe(
    'The one user that was checked has no value for these variables. Drafts without a default are held.',
  );
});
