import { describe, expect, test } from 'vitest';
import type { RuleListed } from '@beckon/contract/dashboard';
import { isInactive, listRules, readSort, weekOf } from './list-rules.ts';

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
const busy = rule('Beta', {
  users: 3,
  emails: 2,
  week: [
    { ...day, enrolled: 3, drafted: 2 },
    { ...day, sent: 1 },
  ],
});
const quiet = rule('alpha');
const disabled = rule('Gamma', { on: false });
const rules = [busy, quiet, disabled];
const names = (options: Partial<Parameters<typeof listRules>[1]>): string[] =>
  listRules(rules, { filter: undefined, state: 'all', sort: undefined, ...options }).map(({ name }) => name);

describe('listRules', () => {
  test('keeps the order of priority without a sort', () => {
    expect(names({})).toEqual(['Beta', 'alpha', 'Gamma']);
  });

  test('filters by state', () => {
    expect(names({ state: 'enabled' })).toEqual(['Beta', 'alpha']);
    expect(names({ state: 'disabled' })).toEqual(['Gamma']);
    expect(names({ state: 'inactive' })).toEqual(['alpha']);
  });

  test('searches all words in names and summaries, in any case', () => {
    expect(names({ filter: 'HAPPENS gam' })).toEqual(['Gamma']);
    expect(names({ filter: 'nothing' })).toEqual([]);
  });

  test('sorts by a column, in both directions, and ignores unknown columns', () => {
    expect(names({ sort: 'name' })).toEqual(['alpha', 'Beta', 'Gamma']);
    expect(names({ sort: '-drafted' })[0]).toBe('Beta');
    expect(names({ sort: 'moon' })).toEqual(['Beta', 'alpha', 'Gamma']);
  });
});

test('readSort › reads the column and the direction', () => {
  expect(readSort('-users')).toEqual({ by: 'users', down: true });
  expect(readSort(undefined)).toBe(null);
});

test('weekOf and isInactive › add up the days', () => {
  expect(weekOf(busy)).toEqual({ enrolled: 3, drafted: 2, sent: 1, goal: 0 });
  expect([busy, quiet, disabled].map(isInactive)).toEqual([false, true, false]);
});
