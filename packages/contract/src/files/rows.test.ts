import { expect, test } from 'vitest';
import { cellsOf, type FileRow, readRows, ROW_MAX_BYTES } from './file-rows.ts';

type Read = { cells: string[] | null; line: number; at: number };

/** The rows of a text, cut into pieces of so many bytes. */
async function rowsOf(text: string | Buffer, pieceBytes = 7, from = { at: 0, line: 1 }): Promise<FileRow[]> {
  const bytes = Buffer.from(text).subarray(from.at);
  async function* pieces(): AsyncGenerator<Buffer, void, void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const rows: FileRow[] = [];
  for await (const some of readRows(pieces(), { from, delimiter: ',' }))
    for (const row of some) rows.push(row);
  return rows;
}

const plain = (rows: FileRow[]): Read[] =>
  rows.map(({ text, line, end }) => ({ cells: text === null ? null : cellsOf(text, ','), line, at: end.at }));
const cells = async (text: string, pieceBytes = 7): Promise<(string[] | null)[]> =>
  plain(await rowsOf(text, pieceBytes)).map((row) => row.cells);

test('quotes hold commas and line breaks, and a quote within is written twice', async () => {
  expect(await cells('a,"b,c",d\r\n"x\ny","say ""hi""",z\n')).toEqual([
    ['a', 'b,c', 'd'],
    ['x\ny', 'say "hi"', 'z'],
  ]);
});

test('only a quote at the beginning of a cell opens one', async () => {
  expect(await cells('5" pipe,1\n6" pipe,2\n')).toEqual([
    ['5" pipe', '1'],
    ['6" pipe', '2'],
  ]);
});

test('what stands behind a closing quote belongs to the cell', async () => {
  expect(await cells('"a"b,c\n"a" ,"b"\n')).toEqual([
    ['ab', 'c'],
    ['a ', 'b'],
  ]);
});

test('a quote that is never closed costs its own line and no other', async () => {
  const rows = await rowsOf('a,b\n"half,x\nc,d\ne,f');
  expect(plain(rows).map((row) => [row.cells, row.line])).toEqual([
    [['a', 'b'], 1],
    [null, 2],
    [['c', 'd'], 3],
    [['e', 'f'], 4],
  ]);
  expect(rows[1]).toMatchObject({ raw: '"half,x', flaw: expect.stringContaining('never closed') });
});

test.each([11, 4_096, 4_000_000])(
  'a row of more than a megabyte costs itself and no other, in pieces of %i bytes',
  async (pieceBytes) => {
    const long = 'x'.repeat(ROW_MAX_BYTES + 10);
    const rows = await rowsOf(
      `a,b\n${long}\nc,d\n"${long}\n${long}\ne,f`,
      pieceBytes === 11 ? 65_537 : pieceBytes,
    );
    expect(plain(rows).map((row) => row.cells)).toEqual([
      ['a', 'b'],
      null,
      ['c', 'd'],
      null,
      null,
      ['e', 'f'],
    ]);
    expect(rows.every(({ raw }) => raw.length <= 600)).toBe(true);
  },
);

test('a row that is no UTF-8 is told, and the next one is read', async () => {
  const rows = await rowsOf(
    Buffer.concat([Buffer.from('a,'), Buffer.from([0xc3, 0x28]), Buffer.from('\nb,c\n')]),
  );
  expect(plain(rows).map((row) => row.cells)).toEqual([null, ['b', 'c']]);
  expect(rows[0]?.flaw).toBe('This row is not UTF-8 text');
});

test('however it is cut, and from whichever place, the same rows are behind it', async () => {
  const text = 'id,é\n1,"two\nlines, ""q"""\n\n2,5" x\n3,\r\n"open,4\n5,🐣';
  const whole = plain(await rowsOf(text, 1_000));
  expect(whole.length).toBe(7);
  for (let bytes = 1; bytes < 20; bytes += 1) expect(plain(await rowsOf(text, bytes))).toEqual(whole);
  for (const [i, { at, line }] of whole.entries()) {
    const next = { at, line: whole[i + 1]?.line ?? line };
    expect(plain(await rowsOf(text, 3, next))).toEqual(whole.slice(i + 1));
  }
});

/** Read on from each of its lines as from the first, either would take hours. */
test.each([
  ['empty lines', '\n', null],
  ['quotes that are never closed in every line', 'x","\n', 'never closed'],
])('a file of %s is read in one go', async (_, line, flaw) => {
  const lines = Math.ceil((1.2 * ROW_MAX_BYTES) / line.length);
  const rows = await rowsOf(line.repeat(lines), 4 * ROW_MAX_BYTES);
  expect(rows.length).toBe(lines);
  expect(rows.filter((row) => flaw !== null && !row.flaw?.includes(flaw)).length).toBe(0);
});
