import type { EventInput, UserInput } from '@beckon/contract';
import { type FileKind, type FilePosition, type FileRow, readRows } from '@beckon/contract/files';
import { columnsOf, problemsOf } from './file-columns.ts';
import { type FileFormat, HEAD_BYTES, readFormat, type ImportFile } from './file-format.ts';
import { type RecordReader, recordReader } from './file-row.ts';
import { PART_BYTES } from './import.ts';
import { ImportHalt, type ImportChunk, type ImportSource, type SourcePosition } from './source.ts';
import { idReader } from './row-owner.ts';

const CHUNK_ROWS = 1_000;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Rows are parsed in pieces of this size, because the four million empty rows that fit into a part take half a gigabyte. */
const PIECE_BYTES = 256 * 1024;

/** Reads the rows of a file, a thousand at a time. A position is a byte position. */
export function createFileSource(file: ImportFile): ImportSource {
  return {
    async *read(after, signal) {
      const format = await openFormat(file);
      const problems = problemsOfFile(file, format);
      if (problems[0]) throw new ImportHalt('unreadable', problems[0].message);
      const from = after === null ? format.begins : filePosition(after);
      const chunk = new Chunk(file.kind, rowReader(file, format), from);
      const rows = readRows(piecesOf(file, from.at, signal), { from, delimiter: format.delimiter });
      for await (const batch of rows)
        for (const row of batch) {
          chunk.add(row);
          if (chunk.isFull()) yield chunk.take();
        }
      if (chunk.rows > 0) yield chunk.take();
    },
  };
}

export async function openFormat(file: Pick<ImportFile, 'load'>): Promise<FileFormat> {
  const first = await file.load(0);
  if (!first) throw new ImportHalt('unreadable', 'The file is no longer stored');
  return readFormat(first.subarray(0, HEAD_BYTES));
}

export function problemsOfFile(
  { kind, mapping }: Pick<ImportFile, 'kind' | 'mapping'>,
  format: FileFormat,
): { field: string; message: string }[] {
  if (format.delimiter === null) return [];
  return problemsOf(kind, columnsOf(kind, format.columns, mapping), mapping);
}

async function* piecesOf(
  file: ImportFile,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  for (let at = from; at < file.sizeBytes;) {
    signal.throwIfAborted();
    const part = Math.floor(at / PART_BYTES);
    const bytes = await file.load(part);
    if (!bytes) throw new ImportHalt('unreadable', `Part ${part} of the file is missing`);
    const piece = bytes.subarray(at - part * PART_BYTES);
    if (piece.length === 0) throw new ImportHalt('unreadable', 'The file is shorter than its declared size');
    for (let from = 0; from < piece.length; from += PIECE_BYTES)
      yield piece.subarray(from, from + PIECE_BYTES);
    at += piece.length;
  }
}

function filePosition(position: SourcePosition): FilePosition {
  return { at: Number(position['at']), line: Number(position['line']) };
}

/** Converts a row to a record and finds its user. */
type RowReader = { recordOf: RecordReader; idIn: (text: string) => string | null };

function rowReader(file: ImportFile, format: FileFormat): RowReader {
  return { recordOf: recordReader(file.kind, format, file.mapping), idIn: idReader(file, format) };
}

class Chunk {
  rows = 0;
  private readonly kind: FileKind;
  private readonly read: RowReader;
  private begins: number;
  private position: FilePosition;
  private made: Pick<ImportChunk, 'users' | 'events' | 'rejected'> & { at: number[] } = empty();

  constructor(kind: FileKind, read: RowReader, from: FilePosition) {
    this.kind = kind;
    this.read = read;
    this.begins = from.at;
    this.position = from;
  }

  add({ line, end, text, flaw, raw }: FileRow): void {
    this.position = end;
    // Skips rows of only spaces and delimiters. Spreadsheets leave them at the end of a file, and an erasure leaves them in place of a row.
    if (text !== null && BLANK.test(text)) return;
    this.rows += 1;
    const row =
      text === null ? { field: null, message: flaw ?? 'The row cannot be read' } : this.read.recordOf(text);
    if (!('record' in row)) {
      const userId = text === null ? null : this.read.idIn(text);
      this.made.rejected.push({ row: line, field: row.field, message: row.message, raw, userId });
      return;
    }
    this.made.at.push(line);
    if (this.kind === 'users') this.made.users.push(row.record as UserInput);
    else this.made.events.push(row.record as EventInput);
  }

  isFull(): boolean {
    return this.rows === CHUNK_ROWS || this.position.at - this.begins >= CHUNK_BYTES;
  }

  take(): ImportChunk {
    const { position, rows, made, begins } = this;
    const { at, ...records } = made;
    this.begins = position.at;
    this.rows = 0;
    this.made = empty();
    const lines = this.kind === 'users' ? { userRows: at } : { eventRows: at };
    return { ...records, ...lines, position: { ...position }, rows, bytes: position.at - begins };
  }
}

const BLANK = /^[\s,;|"]*$/;

function empty(): Pick<ImportChunk, 'users' | 'events' | 'rejected'> & { at: number[] } {
  return { users: [], events: [], rejected: [], at: [] };
}
