import { describe, expect, test } from 'vitest';
import { checkPassword } from './make-person.ts';

describe('checkPassword', () => {
  test.each([
    'password1234',
    'Password!2026',
    'qwertyuiop12',
    '123456789012',
    'aaaaaaaaaaaa',
    'passwordpassword',
    'passwordpasswordpassword',
    '12-abcabcabcabc-34',
    'abcabcabcabc',
    'abc'.repeat(66),
  ])('refuses %s, which is easy to guess', (password) => {
    expect(() => checkPassword(password)).toThrow('is easy to guess');
  });

  test.each([
    'correct horse battery',
    'правильный конь',
    'my password is long',
    'abcabcabcabcab',
    'abcpasswordabc',
  ])('accepts %s', (password) => {
    expect(() => checkPassword(password)).not.toThrow();
  });
});
