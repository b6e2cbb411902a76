import { describe, expect, test, vi } from 'vitest';
import { cellsOf } from './csv.ts';
import { type FileRow, readRows, ROW_MAX_BYTES } from './rows.ts';

type Read = { cells: string[] | null; line: number; at: number };

/** Returns the rows of a text that arrives in pieces of `pieceBytes`. */
async function rowsOf(text: string | Buffer, pieceBytes = 7, from = { at: 0, line: 1 }): Promise<FileRow[]> {
  const bytes = Buffer.from(text).subarray(from.at);
  async function* pieces(): AsyncGenerator<Buffer, void, void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const rows: FileRow[] = [];
  for await (const batch of readRows(pieces(), { from, delimiter: ',' }))
    for (const row of batch) rows.push(row);
  return rows;
}

const plain = (rows: FileRow[]): Read[] =>
  rows.map(({ text, line, end }) => ({ cells: text === null ? null : cellsOf(text, ','), line, at: end.at }));
const cells = async (text: string, pieceBytes = 7): Promise<(string[] | null)[]> =>
  plain(await rowsOf(text, pieceBytes)).map((row) => row.cells);

describe('readRows', () => {
  test('reads delimiters, line breaks and doubled quotes inside quotes', async () => {
    expect(await cells('a,"b,c",d\r\n"x\ny","say ""hi""",z\n')).toEqual([
      ['a', 'b,c', 'd'],
      ['x\ny', 'say "hi"', 'z'],
    ]);
  });

  test('opens quotes at the beginning of a cell only', async () => {
    expect(await cells('5" pipe,1\n6" pipe,2\n')).toEqual([
      ['5" pipe', '1'],
      ['6" pipe', '2'],
    ]);
  });

  test('appends text after a closing quote to the cell', async () => {
    expect(await cells('"a"b,c\n"a" ,"b"\n')).toEqual([
      ['ab', 'c'],
      ['a ', 'b'],
    ]);
  });

  test('gives up one line only for a quote that is never closed', async () => {
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
    'gives up a row of more than 1 MiB and no other, in pieces of %i bytes',
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

  test('reports a row that is not UTF-8, and reads the next one', async () => {
    const rows = await rowsOf(
      Buffer.concat([Buffer.from('a,'), Buffer.from([0xc3, 0x28]), Buffer.from('\nb,c\n')]),
    );
    expect(plain(rows).map((row) => row.cells)).toEqual([null, ['b', 'c']]);
    expect(rows[0]?.flaw).toBe('This row is not UTF-8 text');
  });

  test('returns the same rows for any piece size, and from any place', async () => {
    const text = 'id,é\n1,"two\nlines, ""q"""\n\n2,5" x\n3,\r\n"open,4\n5,🐣';
    const whole = plain(await rowsOf(text, 1_000));
    expect(whole.length).toBe(7);
    for (let bytes = 1; bytes < 20; bytes += 1) expect(plain(await rowsOf(text, bytes))).toEqual(whole);
    for (const [i, { at, line }] of whole.entries()) {
      const next = { at, line: whole[i + 1]?.line ?? line };
      expect(plain(await rowsOf(text, 3, next))).toEqual(whole.slice(i + 1));
    }
  });

  // A search from every line to the end would take hours.
  test.each([
    ['empty lines', '\n', null],
    ['quotes that are never closed in every line', 'x","\n', 'never closed'],
  ])('reads a file of %s in one pass', async (_, line, flaw) => {
    const lines = Math.ceil((1.2 * ROW_MAX_BYTES) / line.length);
    const rows = await rowsOf(line.repeat(lines), 4 * ROW_MAX_BYTES);
    expect(rows.length).toBe(lines);
    expect(rows.filter((row) => flaw !== null && !row.flaw?.includes(flaw)).length).toBe(0);
  });

  test('skips a byte order mark, in pieces of any size', async () => {
    for (const pieceBytes of [1, 2, 3, 100])
      expect(await cells('\uFEFFa,b\n\uFEFFc,d', pieceBytes)).toEqual([
        ['a', 'b'],
        ['\uFEFFc', 'd'],
      ]);
    expect(await cells('\uFEFF')).toEqual([]);
    expect(await cells('a', 1)).toEqual([['a']]);
  });

  test('takes the maximum row size from its caller', async () => {
    const text = `a,b\n${'x'.repeat(2_000)}\n"open\nc,d\n`;
    const read = readRows(ReadableStream.from([Buffer.from(text)]), { delimiter: ',', rowMaxBytes: 1_024 });
    expect((await Array.fromAsync(read)).flat().map((row) => row.text ?? row.flaw)).toEqual([
      'a,b',
      'This row is longer than 1 KiB, or a quote in it is never closed',
      'This row is longer than 1 KiB, or a quote in it is never closed',
      'c,d',
    ]);
  });

  // 64 KiB of each took up to 200 ms; the second search for a quote cost more than reading the file.
  test.each(['x","\n', '"\n', '"a\n', ',"\n', '"'.repeat(64 * 1024), '"a",\n', 'a,b\n'])(
    'searches a bounded number of times in 64 KiB of %j',
    async (line) => {
      const bytes = Buffer.from(line.repeat(Math.ceil((64 * 1024) / line.length)));
      const search = vi.spyOn(Uint8Array.prototype, 'indexOf');
      await rowsOf(bytes, bytes.length);
      const searches = search.mock.calls.length;
      search.mockRestore();
      expect(searches).toBeLessThan(1_000_000);
    },
  );
});
