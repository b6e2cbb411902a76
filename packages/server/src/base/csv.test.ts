import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CSV_ROW_MAX_CHARS, csvLine, type CsvRow, readCsv } from './csv.ts';

async function* pieces(text: string, sizes: number[]): AsyncGenerator<string, void, void> {
  for (let from = 0, i = 0; from < text.length; i += 1) {
    const size = sizes.length === 0 ? text.length : Math.max(1, sizes[i % sizes.length] ?? 1);
    yield text.slice(from, from + size);
    from += size;
  }
}

async function read(text: string, sizes: number[] = []): Promise<(CsvRow | null)[]> {
  return Array.fromAsync(readCsv(pieces(text, sizes)));
}

test('whatever is written is read as it was, however it is cut and whichever way its lines end', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '""', '\t') }),
  );
  // A row of one empty value cannot be told from an empty line.
  const row = fc
    .array(value, { minLength: 1, maxLength: 4 })
    .filter((values) => csvLine(values).trim() !== '');
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }),
      fc.tuple(fc.constantFrom('\n', '\r\n'), fc.boolean()),
      async (rows, sizes, [end, isEnded]) => {
        const text = rows.map(csvLine).join(end) + (isEnded ? end : '');
        expect((await read(text, sizes)).map((one) => one?.values)).toEqual(rows);
      },
    ),
    { numRuns: 500 },
  );
});

test('rows know their line, and empty ones are passed over', async () => {
  expect(await read('a,b\r\n\r\n  \n"x\ny",z\nlast')).toEqual([
    { line: 1, values: ['a', 'b'] },
    { line: 4, values: ['x\ny', 'z'] },
    { line: 6, values: ['last'] },
  ]);
});

test('what nobody should write is read as it stands', async () => {
  const rows = await read('a"b"c, "d" ,e,\n,,\n"x"y,z');
  expect(rows.map((row) => row?.values)).toEqual([
    ['a"b"c', '"d"', 'e', ''],
    ['', '', ''],
    ['"x"y', 'z'],
  ]);
});

test('a quote that is never closed, or a row without end, ends the reading', async () => {
  const long = `ok\n${'x'.repeat(CSV_ROW_MAX_CHARS + 1)}`;
  for (const text of ['ok\n"never closed\n', long, `${long}\nmore`, `ok\n"${'\n'.repeat(CSV_ROW_MAX_CHARS)}`])
    expect(await read(text, [100])).toEqual([{ line: 1, values: ['ok'] }, null]);
});
