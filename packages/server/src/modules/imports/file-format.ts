import type { ImportFormat, ImportMapping } from '@beckon/contract/dashboard';
import {
  cellsOf,
  columnName,
  delimiterOf,
  type FilePosition,
  readRows,
  type FileKind,
} from '@beckon/contract/files';
import { ImportHalt } from './source.ts';

/** A file in parts. `load` returns an uncompressed part, or null if it is not there. */
export type ImportFile = {
  kind: FileKind;
  sizeBytes: number;
  mapping: ImportMapping | null;
  load(part: number): Promise<Buffer | null>;
};

/** The format of a file, detected from its first bytes, and the position of its first record. */
export type FileFormat = {
  format: ImportFormat;
  /** Null for JSONL. */
  delimiter: string | null;
  /** The names in the header, each once. Empty for JSONL, where rows have their own names. */
  columns: string[];
  begins: FilePosition;
};

/** The number of bytes that are read. A longer header is not recognized. */
export const HEAD_BYTES = 256 * 1024;
const COLUMNS_MAX = 500;

export async function readFormat(head: Buffer): Promise<FileFormat> {
  const mark = head.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  refuseOthers(head);
  const text = head.subarray(mark).toString('utf8').trimStart();
  if (text === '') throw unreadable('The file is empty');
  if (text.startsWith('['))
    throw unreadable('The file is a single JSON array. Write one object per line (JSONL)');
  if (text.startsWith('{'))
    return { format: 'jsonl', delimiter: null, columns: [], begins: { at: mark, line: 1 } };
  return readHeader(head, { mark, delimiter: delimiterOf(text) });
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

const OTHERS: [number[], string][] = [
  [[0x1f, 0x8b], 'The file is compressed with gzip. Decompress it first'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'The file is compressed with zstd. Decompress it first'],
  [[0x50, 0x4b], 'The file is a spreadsheet or a ZIP archive. Save it as CSV first'],
  [[0xff, 0xfe], 'The file is in UTF-16. Save it as UTF-8 first'],
  [[0xfe, 0xff], 'The file is in UTF-16. Save it as UTF-8 first'],
];

function refuseOthers(head: Buffer): void {
  for (const [magic, message] of OTHERS)
    if (head.subarray(0, magic.length).equals(Buffer.from(magic))) throw unreadable(message);
  if (head.subarray(0, 4_096).includes(0)) throw unreadable('The file is not text');
}

async function readHeader(
  head: Buffer,
  { mark, delimiter }: { mark: number; delimiter: string },
): Promise<FileFormat> {
  const rows = readRows(once(head.subarray(mark)), { from: { at: mark, line: 1 }, delimiter });
  for await (const [row] of rows) {
    if (row?.text === null || !row) throw unreadable(row?.flaw ?? 'The file has no header row');
    const isWhole = row.end.at < head.length || head.length < HEAD_BYTES;
    if (!isWhole) throw unreadable('The header row is longer than 256 KiB');
    return { format: 'csv', delimiter, columns: namesOf(cellsOf(row.text, delimiter)), begins: row.end };
  }
  throw unreadable('The file has no header row');
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void, void> {
  yield bytes;
}

function namesOf(cells: string[]): string[] {
  if (cells.length > COLUMNS_MAX)
    throw unreadable(`The file has ${cells.length} columns; at most ${COLUMNS_MAX} are allowed`);
  const seen = new Set<string>();
  return cells.map((cell, i) => {
    const base = columnName(cell, i);
    let name = base;
    for (let n = 2; seen.has(name); n += 1) name = `${base} (${n})`;
    seen.add(name);
    return name;
  });
}

function unreadable(message: string): ImportHalt {
  return new ImportHalt('unreadable', message);
}
