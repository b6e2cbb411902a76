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

it('begins anew where the current row has left the list', () => {
  expect(step(rows, 'gone', 1)).toBe('a');
});

it('chooses and lets go, and extends over what it passes', () => {
  expect([...toggle(new Set(['a']), 'b')]).toEqual(['a', 'b']);
  expect([...toggle(new Set(['a', 'b']), 'a')]).toEqual(['b']);
  expect([...extend(new Set(), 'b', 'c')]).toEqual(['b', 'c']);
  expect(between(rows, 'd', 'b')).toEqual(['b', 'c', 'd']);
});

it('goes to the row behind the one that leaves, and at the end to the one before', () => {
  expect(afterLeaving(rows, new Set(['b']), 'b')).toBe('c');
  expect(afterLeaving(rows, new Set(['b', 'c']), 'b')).toBe('d');
  expect(afterLeaving(rows, new Set(['d']), 'd')).toBe('c');
  expect(afterLeaving(rows, new Set(rows), 'b')).toBeUndefined();
});
