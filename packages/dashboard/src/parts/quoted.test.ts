import { expect, it } from 'vitest';
import { quoted } from './quoted.ts';

it('quoted › escapes any text as one filter value', () => {
  expect(quoted('ada@x.org')).toBe('"ada@x.org"');
  expect(quoted('a "b" \\ c*')).toBe('"a \\"b\\" \\\\ c*"');
});
