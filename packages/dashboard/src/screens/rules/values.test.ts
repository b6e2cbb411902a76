import { expect, test } from 'vitest';
import { OPERATORS, printValue, readSpan, readValue, testOf, withTest } from './values.ts';

test('readValue › reads numbers as numbers, and quoted numbers as text', () => {
  for (const value of [5, -1.5, true, false, 'pro', '5', 'true', '1.', '007'])
    expect(readValue('equals', printValue(value))).toBe(value);
  expect(readValue('one_of', 'trial, 5, "5"')).toEqual(['trial', 5, '5']);
  expect(readValue('contains', '5')).toBe('5');
  expect(readValue('at_least', '80')).toBe(80);
  expect(readValue('at_least', 'many')).toBe('many');
});

test('withTest › replaces the operator and keeps the property', () => {
  const changed = withTest({ property: 'plan', equals: 'pro' }, 'starts_with', 'pro');
  expect(changed).toEqual({ property: 'plan', starts_with: 'pro' });
  expect(withTest(changed, 'is_set', 'pro')).toEqual({ property: 'plan', is_set: true });
  for (const { value: operator } of OPERATORS)
    expect(testOf(withTest({ property: 'x' }, operator, '1')).operator).toBe(operator);
});

test('readSpan › splits a duration into number and unit', () => {
  expect(readSpan('90s')).toEqual({ count: 90, unit: 's' });
  expect(readSpan('soon')).toEqual({ count: null, unit: 'd' });
});
