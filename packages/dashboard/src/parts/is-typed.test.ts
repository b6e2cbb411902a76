import { expect, test } from 'vitest';
import { isTyped } from './is-typed.ts';

test('isTyped › ignores spaces at the ends and line breaks in the name', () => {
  expect(isTyped('user_1', 'user_1')).toBe(true);
  expect(isTyped(' user_1 ', 'user_1')).toBe(true);
  expect(isTyped('user_1', ' user_1  ')).toBe(true);
  expect(isTyped(' user_1  ', ' user_1  ')).toBe(true);
  expect(isTyped('user1', 'user\n1')).toBe(true);
  expect(isTyped('User_1', 'user_1')).toBe(false);
  expect(isTyped('user_', 'user_1')).toBe(false);
});

test('isTyped › never accepts empty input, even for a name of spaces', () => {
  expect(isTyped('', 'user_1')).toBe(false);
  expect(isTyped('', '  ')).toBe(false);
  expect(isTyped('  ', '  ')).toBe(true);
});
