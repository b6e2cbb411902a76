import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellsOf, csvLine, delimiterOf } from './csv.ts';
import { readRows } from './rows.ts';

async function* pieces(text: string, sizes: number[]): AsyncGenerator<Uint8Array, void, void> {
  const bytes = Buffer.from(text);
  for (let from = 0, i = 0; from < bytes.length; i += 1) {
    const size = sizes.length === 0 ? bytes.length : Math.max(1, sizes[i % sizes.length] ?? 1);
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function read(text: string, { sizes = [] as number[], delimiter = ',' } = {}): Promise<string[][]> {
  const rows = (await Array.fromAsync(readRows(pieces(text, sizes), { delimiter }))).flat();
  return rows.map((row) => cellsOf(row.text ?? '', delimiter, { trim: true }));
}

describe('csvLine', () => {
  test('writes rows that readRows and cellsOf read back, for any delimiter, line end and piece size', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', '""', '\t') }),
    );
    // An empty row looks like an empty line.
    const row = fc.array(value, { minLength: 1, maxLength: 4 }).filter((values) => csvLine(values) !== '');
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }),
        fc.tuple(fc.constantFrom('\n', '\r\n'), fc.boolean(), fc.constantFrom(',', ';', '\t')),
        async (rows, sizes, [end, isEnded, delimiter]) => {
          const lines = rows.map((values) => csvLine(values, delimiter));
          const text = lines.join(end) + (isEnded && lines.length > 0 ? end : '');
          expect(await read(text, { sizes, delimiter })).toEqual(rows);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('writes null as an empty cell', () => {
    expect(csvLine(['a', null, ' b'])).toBe('a,," b"');
  });
});

describe('cellsOf', () => {
  test('keeps stray quotes, and trims unquoted cells if asked to', () => {
    expect(cellsOf('a"b"c, "d" ,e,', ',', { trim: true })).toEqual(['a"b"c', '"d"', 'e', '']);
    expect(cellsOf('" x ", y ', ',', { trim: true })).toEqual([' x ', 'y']);
    expect(cellsOf(' x ,y', ',')).toEqual([' x ', 'y']);
    expect(cellsOf(',,', ',')).toEqual(['', '', '']);
  });
});

describe('delimiterOf', () => {
  test('counts in the first line, outside quotes', () => {
    expect(delimiterOf('"a,b,c,d";e;f\n1,2,3,4,5')).toBe(';');
    expect(delimiterOf('"two\nlines,,,"\ta\tb\n')).toBe('\t');
    expect(delimiterOf('one column')).toBe(',');
  });
});
