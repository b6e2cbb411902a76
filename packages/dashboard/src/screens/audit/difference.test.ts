import { expect, test } from 'vitest';
import { differenceOf } from './difference.ts';

test('differenceOf › returns only changed fields, before and after', () => {
  expect(differenceOf({ role: 'editor', name: 'Ada' }, { role: 'admin', name: 'Ada' })).toEqual([
    { field: 'role', before: 'editor', after: 'admin' },
  ]);
});

test('differenceOf › returns null before an addition and after a removal', () => {
  expect(differenceOf(null, { role: 'admin', projects: [1] })).toEqual([
    { field: 'role', before: null, after: 'admin' },
    { field: 'projects', before: null, after: '[\n 1\n]' },
  ]);
  expect(differenceOf({ url: 'https://x.org' }, null)).toEqual([
    { field: 'url', before: 'https://x.org', after: null },
  ]);
});

test('differenceOf › compares values without fields as a whole, and returns nothing for equal values', () => {
  expect(differenceOf('a', 'b')).toEqual([{ field: 'value', before: 'a', after: 'b' }]);
  expect([differenceOf(null, null), differenceOf({ a: 1 }, { a: 1 })]).toEqual([[], []]);
});
