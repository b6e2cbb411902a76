import { expect, test } from 'vitest';
import type { MailCheck } from '@beckon/contract/dashboard';
import { checkName, worstFirst } from './check-names.ts';

test('what is wrong stands before what is well, and otherwise in the order in which it was looked at', () => {
  const checks = (['ok', 'warning', 'ok', 'error', 'warning'] as const).map((status, at): MailCheck => ({
    name: `c${at}`,
    status,
    message: '',
    detail: [],
  }));
  expect(worstFirst(checks).map(({ name }) => name)).toEqual(['c3', 'c1', 'c4', 'c0', 'c2']);
});

test('a check is called as people call it, and one that nobody named here by its own name', () => {
  expect(checkName('dkim')).toBe('Signature (DKIM)');
  expect(checkName('new_look')).toBe('New look');
  expect(checkName('constructor')).toBe('Constructor');
});
