import { expect, it } from 'vitest';
import { flag, oneOf, searchOf, text, whole } from './search.ts';

const read = searchOf({ filter: text, tab: oneOf('edit', 'why'), page: whole, only: flag });

it('an address is read as what it says', () => {
  expect(read({ filter: 'plan:pro', tab: 'why', page: 3, only: true })).toEqual({
    filter: 'plan:pro',
    tab: 'why',
    page: 3,
    only: true,
  });
});

it('what is wrong in it, or not known, is left out, and the page still opens', () => {
  expect(read({ filter: '', tab: 'nothing', page: 'x', only: 'perhaps', other: 1 })).toEqual({});
  expect(read({ filter: { a: 1 }, tab: 1, page: null, only: 1 })).toEqual({});
  expect(read({ filter: 'x'.repeat(2_001) })).toEqual({});
});

it('a text that looks like a number is still a text', () => {
  expect(read({ filter: 42, page: '7', only: 'false' })).toEqual({ filter: '42', page: 7, only: false });
});
