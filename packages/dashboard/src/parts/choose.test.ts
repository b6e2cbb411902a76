import { expect, it } from 'vitest';
import { afterLeaving, between, extend, step, toggle } from './choose.ts';

const rows = ['a', 'b', 'c', 'd'];

it('moves from row to row and stays at the ends', () => {
  expect(step(rows, undefined, 1)).toBe('a');
  expect(step(rows, undefined, -1)).toBe('d');
  expect(step(rows, 'b', 1)).toBe('c');
  expect(step(rows, 'a', -1)).toBe('a');
  expect(step(rows, 'd', 1)).toBe('d');
  expect(step([], 'd', 1)).toBeUndefined();
});

it('starts again if the current row is no longer in the list', () => {
  expect(step(rows, 'gone', 1)).toBe('a');
});

it('selects and deselects rows, and extends the selection while moving', () => {
  expect([...toggle(new Set(['a']), 'b')]).toEqual(['a', 'b']);
  expect([...toggle(new Set(['a', 'b']), 'a')]).toEqual(['b']);
  expect([...extend(new Set(), 'b', 'c')]).toEqual(['b', 'c']);
  expect(between(rows, 'd', 'b')).toEqual(['b', 'c', 'd']);
});

it('moves to the row after the removed one, or to the one before at the end', () => {
  expect(afterLeaving(rows, new Set(['b']), 'b')).toBe('c');
  expect(afterLeaving(rows, new Set(['b', 'c']), 'b')).toBe('d');
  expect(afterLeaving(rows, new Set(['d']), 'd')).toBe('c');
  expect(afterLeaving(rows, new Set(rows), 'b')).toBeUndefined();
});
