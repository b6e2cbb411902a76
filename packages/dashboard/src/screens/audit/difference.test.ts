import { expect, test } from 'vitest';
import { differenceOf } from './difference.ts';

test('only what changed is shown, with what it was and what it is', () => {
  expect(differenceOf({ role: 'editor', name: 'Ada' }, { role: 'admin', name: 'Ada' })).toEqual([
    { field: 'role', before: 'editor', after: 'admin' },
  ]);
});

test('what came and what went has one side only', () => {
  expect(differenceOf(null, { role: 'admin', projects: [1] })).toEqual([
    { field: 'role', before: null, after: 'admin' },
    { field: 'projects', before: null, after: '[\n 1\n]' },
  ]);
  expect(differenceOf({ url: 'https://x.org' }, null)).toEqual([
    { field: 'url', before: 'https://x.org', after: null },
  ]);
});

test('values without fields are compared whole, and nothing is no difference', () => {
  expect(differenceOf('a', 'b')).toEqual([{ field: 'value', before: 'a', after: 'b' }]);
  expect([differenceOf(null, null), differenceOf({ a: 1 }, { a: 1 })]).toEqual([[], []]);
});
