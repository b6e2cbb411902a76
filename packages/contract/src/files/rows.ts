import { isUtf8 } from 'node:buffer';

/**
 * The rows of a text file, from its bytes, however these are cut. A row is a line or, in CSV, as many lines as its quotes hold
 * together; only a quote at the beginning of a cell opens one (RFC 4180), so that `5" pipe` is a cell like any other. A quote that
 * is not closed within a megabyte costs its own line and no other.
 */
export type FilePlace = { at: number; line: number };

export type FileRow = {
  line: number;
  /** Behind it. */
  end: FilePlace;
  /** Null where it is too long, has a quote that is never closed, or is no UTF-8. */
  text: string | null;
  /** Why, and how it begins. */
  flaw: string | null;
  raw: string;
};

export type RowOptions = { from: FilePlace; delimiter: string | null };

export const ROW_MAX_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const RAW_BYTES = 600;
/**
 * Each quote that is never closed costs a look at the next megabyte. Where a file has many of them, those behind hold no lines
 * together any more: looked for as far as the first, they would take days.
 */
const IN_VAIN_MAX_BYTES = 8 * ROW_MAX_BYTES;

/** Each array holds the rows that ended within one piece of the file. */
export async function* readRows(
  pieces: AsyncIterable<Buffer>,
  options: RowOptions,
): AsyncGenerator<FileRow[], void, void> {
  const cutter = new Cutter(options);
  for await (const piece of pieces) {
    const rows = cutter.push(piece);
    if (rows.length > 0) yield rows;
  }
  const rows = cutter.end();
  if (rows.length > 0) yield rows;
}

const NO_END = 'This row is longer than 1 MiB, or a quote in it is never closed';
const NOT_UTF8 = 'This row is not UTF-8 text';

type Scan = 'start' | 'plain' | 'quoted' | 'closed';

class Cutter {
  private held: Buffer = Buffer.alloc(0);
  private at: number;
  private line: number;
  /** Up to where `held` was looked at, which line that is, and within what. */
  private seen = 0;
  private seenLine: number;
  private scan: Scan = 'start';
  private lookedInVain = 0;
  /** In the middle of a line that is too long: what it was is said, and its rest is passed over. */
  private skipped: { line: number; raw: string } | null = null;
  private readonly delimiter: number | null;

  constructor({ from, delimiter }: RowOptions) {
    this.at = from.at;
    this.line = from.line;
    this.seenLine = from.line;
    this.delimiter = delimiter === null ? null : delimiter.charCodeAt(0);
  }

  push(piece: Buffer): FileRow[] {
    this.held = this.held.length === 0 ? piece : Buffer.concat([this.held, piece]);
    return this.cut(false);
  }

  end(): FileRow[] {
    return this.cut(true);
  }

  private cut(isLast: boolean): FileRow[] {
    const rows: FileRow[] = [];
    for (let row = this.next(isLast); row !== 'more'; row = this.next(isLast)) if (row) rows.push(row);
    return rows;
  }

  /** Null: something was passed over. */
  private next(isLast: boolean): FileRow | null | 'more' {
    if (this.skipped) return this.skip(this.skipped, isLast);
    for (;;) {
      const newline = this.held.indexOf(NEWLINE, this.seen);
      if (newline < 0) break;
      this.look(newline);
      this.seen = newline + 1;
      this.seenLine += 1;
      if (this.scan !== 'quoted') return this.seen > ROW_MAX_BYTES ? this.giveUp() : this.take(newline + 1);
      if (this.seen > ROW_MAX_BYTES || this.lookedInVain >= IN_VAIN_MAX_BYTES) return this.giveUp();
    }
    if (this.held.length > ROW_MAX_BYTES) return this.giveUp();
    if (!isLast || this.held.length === 0) return 'more';
    this.look(this.held.length);
    if (this.scan === 'quoted') return this.giveUp();
    this.seenLine += 1;
    return this.take(this.held.length);
  }

  /** Up to the end of a line: is a quote open there? */
  private look(end: number): void {
    if (this.delimiter === null) return;
    if (this.scan !== 'quoted') this.scan = 'start';
    // A quote is looked for up to the end of the line and no further: through all that is held, row after row, it would take hours.
    const held = this.held.subarray(0, end);
    if (held.indexOf(QUOTE, this.seen) < 0) return;
    let scan: Scan = this.scan;
    for (let i = this.seen; i < end; i += 1) {
      if (scan === 'quoted') {
        const close = held.indexOf(QUOTE, i);
        if (close < 0) break;
        i = close;
        scan = 'closed';
      } else scan = after(scan, held[i] === QUOTE, held[i] === this.delimiter);
    }
    this.scan = scan;
  }

  private take(end: number): FileRow {
    const bytes = this.held.subarray(0, end);
    const { line } = this;
    this.leave(end, this.seenLine);
    const text = bytes.subarray(0, endOfText(bytes));
    // Most files are ASCII, which is UTF-8 that nothing can be wrong with.
    const read = isUtf8(text) ? text.toString('utf8') : null;
    const raw = read === null ? rawOf(text) : read.slice(0, RAW_BYTES);
    const flaw = read === null ? NOT_UTF8 : null;
    return { line, end: { at: this.at, line: this.line }, text: read, flaw, raw };
  }

  /** Its first line comes to nothing, and whatever follows that is looked at anew. */
  private giveUp(): FileRow | null {
    this.lookedInVain += this.seen;
    const newline = this.held.indexOf(NEWLINE);
    const { line } = this;
    const raw = rawOf(this.held.subarray(0, newline < 0 ? RAW_BYTES : newline));
    if (newline >= 0 || this.held.length <= ROW_MAX_BYTES)
      this.leave(newline < 0 ? this.held.length : newline + 1, line + 1);
    else {
      this.skipped = { line, raw };
      this.leave(this.held.length, line);
      return null;
    }
    return { line, end: { at: this.at, line: this.line }, text: null, flaw: NO_END, raw };
  }

  private skip({ line, raw }: { line: number; raw: string }, isLast: boolean): FileRow | 'more' {
    const newline = this.held.indexOf(NEWLINE);
    if (newline < 0 && !isLast) {
      this.leave(this.held.length, this.line);
      return 'more';
    }
    this.leave(newline < 0 ? this.held.length : newline + 1, this.line + 1);
    this.skipped = null;
    return { line, end: { at: this.at, line: this.line }, text: null, flaw: NO_END, raw };
  }

  private leave(bytes: number, line: number): void {
    this.held = this.held.subarray(bytes);
    this.at += bytes;
    this.line = line;
    this.seen = 0;
    this.seenLine = line;
    this.scan = 'start';
  }
}

function after(scan: Exclude<Scan, 'quoted'>, isQuote: boolean, isDelimiter: boolean): Scan {
  if (isDelimiter) return 'start';
  return isQuote && scan !== 'plain' ? 'quoted' : 'plain';
}

function endOfText(bytes: Buffer): number {
  let end = bytes.length;
  if (bytes[end - 1] === NEWLINE) end -= 1;
  if (bytes[end - 1] === RETURN) end -= 1;
  return end;
}

function rawOf(bytes: Buffer): string {
  return bytes.subarray(0, RAW_BYTES).toString('utf8');
}

/** The cells of a row, without their quotes. */
export function cellsOf(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const cells: string[] = [];
  for (let at = 0; at <= text.length;) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter);
    cells.push(cell);
    at = end + 1;
  }
  return cells;
}

type Cell = { cell: string; end: number };

function plainCell(text: string, at: number, delimiter: string): Cell {
  const found = text.indexOf(delimiter, at);
  const end = found < 0 ? text.length : found;
  return { cell: text.slice(at, end), end };
}

/** What stands between the closing quote and the next delimiter belongs to the cell as it is. */
function quotedCell(text: string, at: number, delimiter: string): Cell {
  let cell = '';
  let from = at + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { cell: cell + text.slice(from), end: text.length };
    cell += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const rest = plainCell(text, quote + 1, delimiter);
      return { cell: cell + rest.cell, end: rest.end };
    }
    cell += '"';
    from = quote + 2;
  }
}
