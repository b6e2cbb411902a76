import { expect, test } from 'vitest';
import type { Import, ImportProgress } from '@beckon/contract/dashboard';
import { broughtLine, factLabel, lettersLine, nothingNew, percentOf, sizeOf } from './words.ts';

const PROGRESS: ImportProgress = {
  rows: 0,
  rows_total: null,
  bytes: 0,
  users: { accepted: 0, new: 0, changed: 0, same: 0 },
  events: { accepted: 0, new: 0, known: 0 },
  rejected: 0,
  erased: 0,
  started_at: null,
  rows_per_s: null,
  seconds_left: null,
  waits_for: null,
};

function imported(progress: Partial<ImportProgress>, more: Partial<Import> = {}): Import {
  return {
    kind: 'users',
    state: 'done',
    size_bytes: null,
    ...more,
    progress: { ...PROGRESS, ...progress },
  } as Import;
}

test('an import that is repeated says that it brought nothing new', () => {
  const users = { accepted: 1_200, new: 0, changed: 0, same: 1_200 };
  expect(nothingNew(imported({ users }))).toBe('Nothing new: 1,200 of 1,200 were known.');
  expect(nothingNew(imported({ users: { ...users, same: 1_199, changed: 1 } }))).toBeNull();
  expect(nothingNew(imported({}))).toBeNull();
});

test('what it brought is one sentence', () => {
  const users = { accepted: 3, new: 1, changed: 1, same: 1 };
  expect(broughtLine(imported({ users, rejected: 1 }))).toBe(
    '3 users: 1 new, 1 changed, 1 known as they are · 1 row rejected.',
  );
  expect(broughtLine(imported({}, { kind: 'stripe' }))).toBe('Nothing was in it for stripe.');
});

test('a check says first that no letter goes out', () => {
  expect(lettersLine({ rules: [] })).toContain('0 letters will go out. No enabled rule');
  const rule = { rule: 'r', name: 'Trial', event: 'trial_started', recent: { count: 0 } };
  expect(lettersLine({ rules: [{ ...rule, users: { count: 1 } }] })).toContain(
    'by one rule, for 1 person each',
  );
  expect(
    lettersLine({
      rules: [
        { ...rule, users: { count: 5, at_least: true } },
        { ...rule, users: { count: 9 } },
      ],
    }),
  ).toContain('by 2 rules, for up to 9 people each');
});

test('how far it is goes by rows where they were counted, else by bytes', () => {
  expect(percentOf(imported({ rows: 50, rows_total: 200 }, { state: 'running' }))).toBe(25);
  expect(percentOf(imported({ bytes: 50 }, { state: 'checking', size_bytes: 100 }))).toBe(50);
  expect(percentOf(imported({}, { state: 'checking' }))).toBeNull();
});

test('sizes and facts are said in words', () => {
  expect([sizeOf(999), sizeOf(4_200_000), sizeOf(2_147_483_648)]).toEqual(['999 B', '4.2 MB', '2.1 GB']);
  expect([factLabel('trials_without_timer'), factLabel('deleted_customers')]).toEqual([
    'Running trials that stay unarmed',
    'Deleted customers',
  ]);
});
