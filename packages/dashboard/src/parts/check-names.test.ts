import { describe, expect, test } from 'vitest';
import type { MailCheck } from '@beckon/contract/dashboard';
import { checkName, worstFirst } from './check-names.ts';

describe('worstFirst', () => {
  test('sorts by severity and keeps the order of equal results', () => {
    const checks = (['ok', 'warning', 'ok', 'error', 'warning'] as const).map((status, at): MailCheck => ({
      name: `c${at}`,
      status,
      message: '',
      detail: [],
    }));
    expect(worstFirst(checks).map(({ name }) => name)).toEqual(['c3', 'c1', 'c4', 'c0', 'c2']);
  });
});

describe('checkName', () => {
  test('returns the display name, or an unknown name in words', () => {
    expect(checkName('dkim')).toBe('Signature (DKIM)');
    expect(checkName('new_look')).toBe('New look');
    expect(checkName('constructor')).toBe('Constructor');
  });
});
