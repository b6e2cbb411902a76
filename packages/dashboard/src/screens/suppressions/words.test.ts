import { describe, expect, test } from 'vitest';
import { gateName, importLines, recipientOf, subjectName } from './words.ts';

test('recipientOf › distinguishes addresses from user ids', () => {
  expect(recipientOf(' ada@x.org ')).toEqual({ email: 'ada@x.org' });
  for (const id of ['42', 'ada', 'ada@home', 'a b@x.org']) expect(recipientOf(id)).toEqual({ user: id });
});

test('importLines › lists the results and omits zeros', () => {
  const result = {
    rows: 1_200,
    added: 1,
    already_suppressed: 1_198,
    already_ended: 0,
    drafts: 2,
    runs: 0,
    rejected: 1,
    problems: [],
  };
  expect(importLines(result)).toEqual([
    '1,200 rows',
    '1 new or with a stronger reason',
    '1,198 already suppressed or duplicates',
    '1 invalid row',
    '2 drafts canceled',
  ]);
});

test('gateName › returns the display name, or an unknown name in words', () => {
  expect(gateName({ check: 'quiet_hours' })).toBe('Quiet hours');
  expect(gateName({ check: 'new_gate' })).toBe('new gate');
});

describe('subjectName', () => {
  test('names an erased user, whose address is not known', () => {
    expect(subjectName({ value: null })).toBe('Erased user');
    expect(subjectName({ value: 'ada@x.org' })).toBe('ada@x.org');
  });
});
