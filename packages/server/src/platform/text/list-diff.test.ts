import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLists } from './list-diff.ts';

const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

test('the difference applied to the first list gives the second', () => {
  fc.assert(
    fc.property(list, list, (before, after) => {
      const made = [...before];
      for (const { at, removed, added } of diffLists(before, after).toReversed()) {
        expect(made.slice(at, at + removed.length)).toEqual(removed);
        made.splice(at, removed.length, ...added);
      }
      expect(made).toEqual(after);
    }),
  );
});

test('keeps the longest common subsequence out of the difference', () => {
  fc.assert(
    fc.property(list, list, (before, after) => {
      const removed = diffLists(before, after).reduce((sum, hunk) => sum + hunk.removed.length, 0);
      expect(before.length - removed).toBe(longestCommon(before, after));
    }),
  );
});

test('replaces everything between the equal ends of lists too long to compare', () => {
  const long = (sign: string): string[] => [
    'x',
    ...Array.from({ length: 1_200 }, (_, i) => `${sign}${i}`),
    'y',
  ];
  expect(diffLists(long('a'), long('b'))).toMatchObject([{ at: 1 }]);
});

function longestCommon([first, ...rest]: string[], other: string[]): number {
  if (first === undefined) return 0;
  const at = other.indexOf(first);
  const without = longestCommon(rest, other);
  return at < 0 ? without : Math.max(without, 1 + longestCommon(rest, other.slice(at + 1)));
}
