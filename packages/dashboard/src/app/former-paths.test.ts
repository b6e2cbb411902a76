import { describe, expect, test } from 'vitest';
import { presentPath } from './former-paths.ts';

describe('presentPath', () => {
  test.each([
    ['/p/1/keys', '/p/1/settings/api-keys'],
    ['/p/7/live', '/p/7/activity'],
    ['/p/7/sequences', '/p/7/rules'],
    ['/p/7/sequences/trial%20tour', '/p/7/rules/trial%20tour'],
    ['/p/7/users', null],
    ['/p/7/settings/team', null],
    ['/p/7/users/keys', null],
    ['/profile', null],
    ['/p/7/constructor', null],
  ])('leads %s to %s', (former, present) => {
    expect(presentPath(former)).toBe(present);
  });
});
