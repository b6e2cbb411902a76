import { expect, test } from 'vitest';
import { bodyOf } from './snippet.ts';

const property = (name: string, ...types: string[]) => ({
  property: name,
  types,
  conflict: false,
  first_at: '',
  last_at: '',
});

test('bodyOf › has an example or a sample of each property', () => {
  const event = {
    name: 'paid',
    properties: [property('amount', 'number'), property('currency', 'string')],
    examples: [{ property: 'amount', values: [49.5, 1] }],
  };
  expect(bodyOf(event)).toEqual({
    external_user_id: 'user_1',
    name: 'paid',
    properties: { amount: 49.5, currency: 'text' },
  });
});
