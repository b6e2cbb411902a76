import { expect, test } from 'vitest';
import { inWords } from './fault-words.ts';

test('inWords › replaces the path with the labels of the form', () => {
  const label = (field: string): string =>
    inWords({ field, message: `${field} must not be empty` }).message.replace(' must not be empty', '');
  expect(label('steps.0.draft.subject')).toBe('Step 1, subject');
  expect(label('steps.2.then.0.draft')).toBe('Step 3, then step 1, draft');
  expect(label('when.1.event')).toBe('Trigger 2, event');
  expect(label('only_if')).toBe('Only if');
});

test('inWords › keeps a message that does not begin with its path', () => {
  const fault = { field: 'steps', message: 'It has no step' };
  expect(inWords(fault)).toBe(fault);
  expect(inWords({ message: 'Odd' })).toEqual({ message: 'Odd' });
});
