import { expect, test } from 'vitest';
import type { Import, ImportProgress } from '@beckon/contract/dashboard';
import { broughtLine, factLabel, emailsLine, nothingNew, percentOf, sizeOf } from './words.ts';

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

test('nothingNew › notes a repeated import', () => {
  const users = { accepted: 1_200, new: 0, changed: 0, same: 1_200 };
  expect(nothingNew(imported({ users }))).toBe('No new data: 1,200 of 1,200 existed already.');
  expect(nothingNew(imported({ users: { ...users, same: 1_199, changed: 1 } }))).toBeNull();
  expect(nothingNew(imported({}))).toBeNull();
});

test('broughtLine › summarizes the results in one sentence', () => {
  const users = { accepted: 3, new: 1, changed: 1, same: 1 };
  expect(broughtLine(imported({ users, rejected: 1 }))).toBe(
    '3 users: 1 new, 1 changed, 1 unchanged · 1 row rejected.',
  );
  expect(broughtLine(imported({}, { kind: 'stripe' }))).toBe('No data found: Stripe.');
});

test('emailsLine › says first that no emails are triggered', () => {
  expect(emailsLine({ rules: [] })).toContain('Triggers 0 emails. No enabled rule');
  const rule = { rule: 'r', name: 'Trial', event: 'trial_started', recent: { count: 0 } };
  expect(emailsLine({ rules: [{ ...rule, users: { count: 1 } }] })).toContain(
    'trigger one rule, for 1 user each',
  );
  expect(
    emailsLine({
      rules: [
        { ...rule, users: { count: 5, at_least: true } },
        { ...rule, users: { count: 9 } },
      ],
    }),
  ).toContain('trigger 2 rules, for up to 9 users each');
});

test('percentOf › uses rows if they were counted, else bytes', () => {
  expect(percentOf(imported({ rows: 50, rows_total: 200 }, { state: 'running' }))).toBe(25);
  expect(percentOf(imported({ bytes: 50 }, { state: 'checking', size_bytes: 100 }))).toBe(50);
  expect(percentOf(imported({}, { state: 'checking' }))).toBeNull();
});

test('sizeOf and factLabel › format sizes and facts', () => {
  expect([sizeOf(999), sizeOf(4_200_000), sizeOf(2_147_483_648)]).toEqual(['999 B', '4.2 MB', '2.1 GB']);
  expect([factLabel('trials_without_reminder'), factLabel('deleted_customers')]).toEqual([
    'Running trials without a reminder',
    'Deleted customers',
  ]);
});
