import { expect, it } from 'vitest';
import { quoted } from './quoted.ts';

it('a value of a filter means itself, whatever it holds', () => {
  expect(quoted('ada@x.org')).toBe('"ada@x.org"');
  expect(quoted('a "b" \\ c*')).toBe('"a \\"b\\" \\\\ c*"');
});
