import { describe, expect, test } from 'vitest';
import { LIST_SORTS } from '@beckon/contract/dashboard';
import { printSort, readSort } from './list-look.ts';

describe('sort of a list', () => {
  test.each(Object.values(LIST_SORTS).flat())('reads and prints %s', (sort) => {
    expect(printSort(readSort(sort))).toBe(sort);
  });

  test('reads a column and its direction', () => {
    expect(readSort('-first')).toEqual({ by: 'first', down: true });
    expect(readSort('first')).toEqual({ by: 'first', down: false });
  });
});
