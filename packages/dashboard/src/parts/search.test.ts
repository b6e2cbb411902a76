import { expect, it } from 'vitest';
import { flag, oneOf, searchOf, text, whole } from './search.ts';

const read = searchOf({ filter: text, tab: oneOf('edit', 'why'), page: whole, only: flag });

it('reads valid parameters', () => {
  expect(read({ filter: 'plan:pro', tab: 'why', page: 3, only: true })).toEqual({
    filter: 'plan:pro',
    tab: 'why',
    page: 3,
    only: true,
  });
});

it('omits invalid and unknown parameters, so that the page still opens', () => {
  expect(read({ filter: '', tab: 'nothing', page: 'x', only: 'perhaps', other: 1 })).toEqual({});
  expect(read({ filter: { a: 1 }, tab: 1, page: null, only: 1 })).toEqual({});
  expect(read({ filter: 'x'.repeat(2_001) })).toEqual({});
});

it('keeps text that looks like a number as text', () => {
  expect(read({ filter: 42, page: '7', only: 'false' })).toEqual({ filter: '42', page: 7, only: false });
});
