import { expect, test } from 'vitest';
import { isTyped } from './is-typed.ts';

test('a name is typed as it is seen: blanks at its ends, and breaks in it, stand in nobody’s way', () => {
  expect(isTyped('user_1', 'user_1')).toBe(true);
  expect(isTyped(' user_1 ', 'user_1')).toBe(true);
  expect(isTyped('user_1', ' user_1  ')).toBe(true);
  expect(isTyped(' user_1  ', ' user_1  ')).toBe(true);
  expect(isTyped('user1', 'user\n1')).toBe(true);
  expect(isTyped('User_1', 'user_1')).toBe(false);
  expect(isTyped('user_', 'user_1')).toBe(false);
});

test('nothing typed confirms nothing, also of a name of blanks', () => {
  expect(isTyped('', 'user_1')).toBe(false);
  expect(isTyped('', '  ')).toBe(false);
  expect(isTyped('  ', '  ')).toBe(true);
});
