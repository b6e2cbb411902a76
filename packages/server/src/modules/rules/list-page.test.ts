import { expect, test } from 'vitest';
import type { RuleListed } from '@beckon/contract/dashboard';
import { isActive, sortRules } from './list-page.ts';

const day = { day: '2026-01-01', enrolled: 0, drafted: 0, sent: 0, goal: 0 };
const rule = (name: string, more: Partial<RuleListed> = {}): RuleListed => ({
  id: name,
  name,
  version: 1,
  on: true,
  mode: 'autopilot',
  deadline: null,
  sends_after: '4h',
  priority: 50,
  sentence: `Starts when ${name} happens.`,
  emails: 1,
  steps: 1,
  warnings: [],
  alarm: null,
  demoted: null,
  week: [day],
  open_drafts: 0,
  users: 0,
  created_at: '',
  updated_at: '',
  ...more,
});
const week = [
  { ...day, drafted: 2 },
  { ...day, sent: 1 },
];
const rules = [rule('beta', { users: 3, week }), rule('alpha'), rule('gamma')];
const sorted = (sort: Parameters<typeof sortRules>[1]): string[] =>
  sortRules(rules, sort).map(({ name }) => name);

test('sortRules › sorts by a column in both directions, and keeps the order of priority among equal rules', () => {
  expect(sorted('-priority')).toEqual(['beta', 'alpha', 'gamma']);
  expect(sorted('priority')).toEqual(['gamma', 'alpha', 'beta']);
  expect(sorted('-name')).toEqual(['gamma', 'beta', 'alpha']);
  expect(sorted('-drafted')).toEqual(['beta', 'alpha', 'gamma']);
  expect(sorted('sent')).toEqual(['alpha', 'gamma', 'beta']);
});

test('isActive › counts users now, and enrollments and emails of the week', () => {
  expect(rules.map(isActive)).toEqual([true, false, false]);
  for (const count of ['enrolled', 'drafted', 'sent'] as const)
    expect(isActive(rule('one', { week: [{ ...day, [count]: 1 }] }))).toBe(true);
  expect(isActive(rule('one', { week: [{ ...day, goal: 1 }] }))).toBe(false);
});
