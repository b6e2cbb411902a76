import { describe, expect, test } from 'vitest';
import { faultSentence, inWords } from './fault-words.ts';

const words = (field: string, message: string, document: unknown = {}): string =>
  faultSentence(inWords({ field, message: `${field} ${message}` }, document));

describe('inWords', () => {
  test('says what to enter into a field without a value', () => {
    expect(words('name', 'must be a string of 1 to 100 characters, without control characters')).toBe(
      'Enter a name',
    );
    expect(words('when.0.event', 'must not be empty')).toBe('Trigger 1: choose an event');
    expect(words('when.1.audience', 'must be a UUID')).toBe('Trigger 2: choose an audience');
    expect(words('steps.0.draft.subject', 'must not be empty')).toBe('Step 1: write a subject');
    expect(words('steps.2.then.0.draft', 'must be a string of 1 to 100 characters')).toBe(
      'Step 3, then step 1: choose a template',
    );
    expect(words('goal.trait', 'must not be empty')).toBe('Goal: choose a trait');
    expect(words('steps', 'must be a list of 1 to 50 steps')).toBe('Add a step');
    expect(words('steps.1.wait', 'must be a whole number and s, m, h or d, such as 90s')).toBe(
      'Step 2: enter a whole number and choose a unit',
    );
  });

  test('says what to enter only if the value is empty', () => {
    const range = 'must be a string of 1 to 100 characters, without control characters';
    for (const name of [undefined, null, '', '  '])
      expect(words('name', range, { name })).toBe('Enter a name');
    expect(words('name', range, { name: 'x'.repeat(101) })).toBe(`Name ${range}`);
    expect(words('steps', 'must be a list of 1 to 50 steps', { steps: [] })).toBe('Add a step');
    expect(words('steps', 'must be a list of 1 to 50 steps', { steps: [{}] })).toBe(
      'Steps must be a list of 1 to 50 steps',
    );
    const document = { when: [{ audience: 'vip' }] };
    expect(words('when.0.audience', 'must be a UUID', document)).toBe('Trigger 1, audience must be a UUID');
  });

  test('replaces the path of other errors with the labels of the form', () => {
    expect(words('steps.2.then.0.draft', 'names a template that does not exist')).toBe(
      'Step 3, then step 1, draft names a template that does not exist',
    );
    expect(words('only_if', 'is odd')).toBe('Only if is odd');
  });

  test('keeps a message that does not begin with its path', () => {
    const fault = { field: 'steps', message: 'It has no step' };
    expect(inWords(fault, {})).toEqual({ ...fault, place: null });
    expect(inWords({ message: 'Odd' }, {})).toEqual({ message: 'Odd', place: null });
  });
});
