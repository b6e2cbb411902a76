import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  completionOf,
  isUnfinished,
  joinFilter,
  quoted,
  splitFilter,
  takeAll,
  takeFinished,
  termsOf,
  withKey,
  withValue,
} from './filter-text.ts';

/** Pieces that have a meaning in filters are more likely than by chance. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(' ', '"', '\\', ':', ',', '-', '*', 'state:', 'rule:"a b"', '-user:42', 'omar', '\t'),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

const sorted = (terms: string[]): string[] => terms.toSorted();

describe('splitFilter and joinFilter', () => {
  test('are inverse: splitting the joined text gives the same parts', () => {
    fc.assert(
      fc.property(text, (typed) => {
        const parts = splitFilter(typed);
        expect(splitFilter(joinFilter(parts))).toEqual(parts);
      }),
    );
  });

  test('keep every term of any text', () => {
    fc.assert(
      fc.property(text, (typed) => {
        const { chips, typed: words } = splitFilter(typed);
        expect(sorted([...chips, ...termsOf(words)])).toEqual(sorted(termsOf(typed)));
        expect(termsOf(typed).join('').replaceAll(/\s/g, '')).toBe(typed.replaceAll(/\s/g, ''));
      }),
    );
  });

  test.each([
    ['omar', [], 'omar'],
    ['omar plan:pro', ['plan:pro'], 'omar'],
    ['-state:sent,failed haddad', ['-state:sent,failed'], 'haddad'],
    ['audience:"Trial users" x', ['audience:"Trial users"'], 'x'],
    ['rule:"never closed x', [], 'rule:"never closed x'],
    ['"a:b" -"c:d"', [], '"a:b" -"c:d"'],
    ['state:', [], 'state:'],
  ])('splits %s', (typed, chips, words) => {
    expect(splitFilter(typed)).toEqual({ chips, typed: words });
  });
});

describe('takeFinished', () => {
  test('keeps the term that is being typed in the input', () => {
    expect(takeFinished({ chips: [], typed: 'plan:pro' })).toEqual({ chips: [], typed: 'plan:pro' });
    expect(takeFinished({ chips: ['a:b'], typed: 'plan:pro ' })).toEqual({
      chips: ['a:b', 'plan:pro'],
      typed: '',
    });
    expect(takeFinished({ chips: [], typed: 'plan:pro om' })).toEqual({ chips: ['plan:pro'], typed: 'om' });
    expect(takeFinished({ chips: [], typed: 'omar plan:pro x' })).toEqual({
      chips: ['plan:pro'],
      typed: 'omar x',
    });
  });

  test('loses no term, as takeAll does', () => {
    fc.assert(
      fc.property(text, (typed) => {
        for (const parts of [takeFinished({ chips: [], typed }), takeAll({ chips: [], typed })])
          expect(sorted(termsOf(joinFilter(parts)))).toEqual(sorted(termsOf(typed)));
      }),
    );
  });
});

describe('completion', () => {
  test.each([
    ['', { of: 'key', isNegated: false, text: '' }],
    ['omar st', { of: 'key', isNegated: false, text: 'st' }],
    ['-st', { of: 'key', isNegated: true, text: 'st' }],
    ['state:', { of: 'value', key: 'state', text: '' }],
    ['state:sent,fa', { of: 'value', key: 'state', text: 'fa' }],
    ['-rule:"Trial ', { of: 'value', key: 'rule', text: 'Trial ' }],
    ['-rule:"Trial t', { of: 'value', key: 'rule', text: 'Trial t' }],
    ['rule:"a, b', { of: 'value', key: 'rule', text: 'a, b' }],
    ['plan:pro ', { of: 'key', isNegated: false, text: '' }],
  ])('of %j', (typed, completed) => {
    expect(completionOf(typed)).toEqual(completed);
  });

  test('replaces the text at the end', () => {
    expect(withKey('omar -st', 'state')).toBe('omar -state:');
    expect(withValue('state:sent,fa', 'failed')).toBe('state:sent,failed');
    expect(withValue('rule:"Tri', 'Trial tour')).toBe('rule:"Trial tour"');
  });

  test('of any value gives a chip with this value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (value) => {
        const { chips, typed } = takeAll({ chips: [], typed: withValue('name:', value) });
        expect(typed).toBe('');
        expect(chips).toEqual([`name:${quoted(value)}`]);
      }),
    );
  });

  test('waits for a value that is being typed', () => {
    expect(isUnfinished('state:se')).toBe(true);
    expect(isUnfinished('state:sent ')).toBe(false);
    expect(isUnfinished('omar')).toBe(false);
  });
});
