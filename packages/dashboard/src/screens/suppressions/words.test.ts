import { describe, expect, test } from 'vitest';
import { gateName, importLines, placeOf, subjectName } from './words.ts';

test('an address is told from the id of a user by what it looks like', () => {
  expect(placeOf(' ada@x.org ')).toEqual({ email: 'ada@x.org' });
  for (const id of ['42', 'ada', 'ada@home', 'a b@x.org']) expect(placeOf(id)).toEqual({ user: id });
});

test('an import is told in what it comes to, and what is nothing is left out', () => {
  const told = { rows: 1_200, added: 1, known: 1_198, over: 0, drafts: 2, runs: 0, refused: 1, problems: [] };
  expect(importLines(told)).toEqual([
    '1,200 rows',
    '1 is new, or has a stronger reason now',
    '1,198 were there before, or twice in the list',
    '1 is refused',
    '2 drafts are canceled by it',
  ]);
});

test('a gate is called as people call it, and one that nobody named here by its own name', () => {
  expect(gateName({ check: 'quiet_hours' })).toBe('Quiet hours');
  expect(gateName({ check: 'new_gate' })).toBe('new gate');
});

describe('subjectName', () => {
  test('names an erased user, whose address is not known', () => {
    expect(subjectName({ value: null })).toBe('Erased user');
    expect(subjectName({ value: 'ada@x.org' })).toBe('ada@x.org');
  });
});
