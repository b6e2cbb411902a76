import { describe, expect, test, vi } from 'vitest';
import { parseRow } from './file-row.ts';

describe('parseRow', () => {
  test('returns the object of a line, and explains why a line is invalid', () => {
    expect(parseRow('{"a":[1,{"b":2}]}')).toEqual({ row: { a: [1, { b: 2 }] } });
    expect(parseRow('{')).toMatchInlineSnapshot(`
      {
        "problem": "The line is not JSON",
      }
    `);
    for (const text of ['[]', '7', 'null'])
      expect(parseRow(text)).toMatchInlineSnapshot(`
      {
        "problem": "The line must be a JSON object",
      }
    `);
  });

  test('accepts a long line of text, and rejects a long line of brackets or keys without parsing it', () => {
    const long = { id: 'u', text: 'x'.repeat(900_000), list: Array(20_000).fill(0) };
    expect(parseRow(JSON.stringify(long))).toEqual({ row: long });
    const parse = vi.spyOn(JSON, 'parse');
    const keys = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, 1]));
    for (const text of [`{"a":${'['.repeat(500_000)}`, JSON.stringify(keys)])
      expect(parseRow(text)).toMatchInlineSnapshot(`
        {
          "problem": "The line is nested too deeply, or has too many values",
        }
      `);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
