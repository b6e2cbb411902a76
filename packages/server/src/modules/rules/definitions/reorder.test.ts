import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder, PRIORITY_MAX, type RankedRule, reorderPriorities } from './reorder.ts';

const rule = (id: string, priority: number): RankedRule => ({ id, name: id, priority });
const applied = (rules: RankedRule[], changed: Map<string, number>): RankedRule[] =>
  rules.map((rule) => ({ ...rule, priority: changed.get(rule.id) ?? rule.priority }));

test('changes only the priority of the moved rule if there is space between its neighbors', () => {
  const rules = [rule('a', 90), rule('b', 70), rule('c', 50)];
  expect(reorderPriorities(rules, 'c', 'b')).toEqual(new Map([['c', 80]]));
  expect(reorderPriorities(rules, 'c', 'a')).toEqual(new Map([['c', 100]]));
  expect(reorderPriorities(rules, 'a', null)).toEqual(new Map([['a', 40]]));
  expect(reorderPriorities(rules, 'a', 'b')).toEqual(new Map());
});

test('moves a rule before another of equal priority', () => {
  const rules = [rule('a', 50), rule('b', 50), rule('c', 50)];
  expect(
    inOrder(applied(rules, reorderPriorities(rules, 'c', 'b') ?? new Map())).map(({ id }) => id),
  ).toEqual(['a', 'c', 'b']);
});

test('moves a rule among others at the lowest or the highest priority, and keeps those that are in order', () => {
  const lowest = ['a', 'b', 'c', 'd'].map((id) => rule(id, 0));
  expect(reorderPriorities(lowest, 'a', 'c')).toEqual(
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  );
  const highest = ['a', 'b', 'c', 'd'].map((id) => rule(id, PRIORITY_MAX));
  expect(reorderPriorities(highest, 'd', 'b')).toEqual(
    new Map([
      ['d', 999],
      ['b', 998],
      ['c', 997],
    ]),
  );
});

test('moves any rule to any position and keeps the order of the others', () => {
  const priorities = fc.array(fc.integer({ min: 0, max: PRIORITY_MAX }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(priorities, fc.nat(), fc.nat(), (all, pick, target) => {
      const rules = all.map((priority, i) => rule(`r${String(i).padStart(2, '0')}`, priority));
      const id = rules[pick % rules.length]?.id ?? '';
      const others = inOrder(rules.filter((other) => other.id !== id)).map((other) => other.id);
      const at = target % (others.length + 1);
      const changed = reorderPriorities(rules, id, others[at] ?? null);
      expect(changed).not.toBe(null);
      const after = applied(rules, changed ?? new Map());
      expect(inOrder(after).map((other) => other.id)).toEqual(others.toSpliced(at, 0, id));
      expect(after.every(({ priority }) => priority >= 0 && priority <= PRIORITY_MAX)).toBe(true);
    }),
  );
});
