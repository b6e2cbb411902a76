/**
 * Reads the rows of a CSV or JSONL file from its bytes, in pieces of any size. Server and command line share it, so that both read a file
 * alike.
 *
 * A row is one line. In CSV a quoted cell may span lines, and only a quote at the beginning of a cell opens one (RFC 4180): `5" pipe` is a
 * plain cell. A row that is too long, or whose quote is not closed within `rowMaxBytes`, loses only its first line. Reading continues with
 * the next line. A byte order mark at the beginning of the file is skipped.
 */

export type FilePosition = { at: number; line: number };

export type FileRow = {
  line: number;
  /** The position where the next row begins. */
  end: FilePosition;
  /** Null if the row is too long, has a quote that is never closed, or is not UTF-8. */
  text: string | null;
  /** Why `text` is null. */
  flaw: string | null;
  /** The first 600 bytes of the row. */
  raw: string;
};

export type RowOptions = {
  from?: FilePosition;
  /** One ASCII character; null for JSONL, where quotes mean nothing. */
  delimiter: string | null;
  rowMaxBytes?: number;
};

export const ROW_MAX_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const RAW_BYTES = 600;
/**
 * A quote that is never closed costs a search through the next `rowMaxBytes`. After so many of these searches, quotes no
 * longer span lines: a file with such a quote in every line would take days.
 */
const VAIN_SEARCHES_MAX = 8;
/** A line costs as much as so many of its bytes: 64 KiB of short lines took 200 ms where only bytes were counted. */
const LINE_WORK = 16;

/** Each array holds the rows that ended within one piece of the file. */
export async function* readRows(
  pieces: AsyncIterable<Uint8Array>,
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

const NOT_UTF8 = 'This row is not UTF-8 text';

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });

/** The position in a row: at the start of a cell, in a plain or quoted cell, or after a quote in a quoted cell. */
type Scan = 'start' | 'plain' | 'quoted' | 'closed';

class Cutter {
  /** Bytes from the beginning of the current row on. */
  private held: Uint8Array = new Uint8Array(0);
  private at: number;
  private line: number;
  /** How far `held` was scanned, the line number there, and the position in the row. */
  private seen = 0;
  private seenLine: number;
  private scan: Scan = 'start';
  /** The last quote that was found in `held`, -1 for none, and how far `held` was searched for it. */
  private quote = -1;
  private searched = 0;
  private vainWork = 0;
  /** Set inside a line that is too long: its rest is skipped. */
  private skipped: { line: number; raw: string } | null = null;
  private readonly delimiter: number | null;
  private readonly rowMaxBytes: number;

  constructor({ from = { at: 0, line: 1 }, delimiter, rowMaxBytes = ROW_MAX_BYTES }: RowOptions) {
    this.rowMaxBytes = rowMaxBytes;
    this.at = from.at;
    this.line = from.line;
    this.seenLine = from.line;
    this.delimiter = delimiter === null ? null : delimiter.charCodeAt(0);
  }

  push(piece: Uint8Array): FileRow[] {
    // A view without Buffer's own `indexOf`, which is several times slower for short lines.
    const bytes = new Uint8Array(piece.buffer, piece.byteOffset, piece.length);
    this.held = this.held.length === 0 ? bytes : joined(this.held, bytes);
    return this.cut(false);
  }

  end(): FileRow[] {
    return this.cut(true);
  }

  private cut(isLast: boolean): FileRow[] {
    if (this.at === 0 && !this.skipMark() && !isLast) return [];
    const rows: FileRow[] = [];
    for (let row = this.next(isLast); row !== 'more'; row = this.next(isLast)) if (row) rows.push(row);
    return rows;
  }

  /** False while the file's first bytes have not all arrived. */
  private skipMark(): boolean {
    if (this.held.length < BYTE_ORDER_MARK.length) return false;
    if (BYTE_ORDER_MARK.every((byte, i) => this.held[i] === byte))
      this.leave(BYTE_ORDER_MARK.length, this.line);
    return true;
  }

  /** Null: part of a line that is too long was skipped. */
  private next(isLast: boolean): FileRow | null | 'more' {
    if (this.skipped) return this.skip(this.skipped, isLast);
    for (;;) {
      const newline = this.held.indexOf(NEWLINE, this.seen);
      if (newline < 0) break;
      this.look(newline);
      this.seen = newline + 1;
      this.seenLine += 1;
      if (this.scan !== 'quoted')
        return this.seen > this.rowMaxBytes ? this.giveUp() : this.take(newline + 1);
      if (this.seen > this.rowMaxBytes || this.vainWork >= VAIN_SEARCHES_MAX * this.rowMaxBytes)
        return this.giveUp();
    }
    if (this.held.length > this.rowMaxBytes) return this.giveUp();
    if (!isLast || this.held.length === 0) return 'more';
    this.look(this.held.length);
    if (this.scan === 'quoted') return this.giveUp();
    this.seenLine += 1;
    return this.take(this.held.length);
  }

  /** Scans up to the end of a line, where `scan` then says whether a quote is open. */
  private look(end: number): void {
    if (this.delimiter === null) return;
    if (this.scan !== 'quoted') this.scan = 'start';
    if (this.quoteFrom(this.seen) >= end) return;
    const { held } = this;
    let scan: Scan = this.scan;
    for (let i = this.seen; i < end; i += 1) {
      if (scan === 'quoted') {
        i = this.quoteFrom(i);
        if (i < end) scan = 'closed';
      } else scan = after(scan, held[i] === QUOTE, held[i] === this.delimiter);
    }
    this.scan = scan;
  }

  /** Finds the next quote. Each byte is searched once, because searching all of `held` for each row would take hours. */
  private quoteFrom(from: number): number {
    if (this.quote >= from) return this.quote;
    this.quote = this.held.indexOf(QUOTE, Math.max(from, this.searched));
    this.searched = this.quote < 0 ? this.held.length : this.quote + 1;
    return this.quote < 0 ? Infinity : this.quote;
  }

  private take(end: number): FileRow {
    const bytes = this.held.subarray(0, end);
    const { line } = this;
    this.leave(end, this.seenLine);
    const text = bytes.subarray(0, endOfText(bytes));
    const read = textOf(text);
    const raw = read === null ? rawOf(text) : read.slice(0, RAW_BYTES);
    const flaw = read === null ? NOT_UTF8 : null;
    return { line, end: { at: this.at, line: this.line }, text: read, flaw, raw };
  }

  /** Gives up the first line of the row. The following lines are scanned again as separate rows. */
  private giveUp(): FileRow | null {
    this.vainWork += this.seen + LINE_WORK * (this.seenLine - this.line);
    this.quote = -1;
    this.searched = 0;
    const newline = this.held.indexOf(NEWLINE);
    const { line } = this;
    const raw = rawOf(this.held.subarray(0, newline < 0 ? RAW_BYTES : newline));
    if (newline >= 0 || this.held.length <= this.rowMaxBytes)
      this.leave(newline < 0 ? this.held.length : newline + 1, line + 1);
    else {
      this.skipped = { line, raw };
      this.leave(this.held.length, line);
      return null;
    }
    return { line, end: { at: this.at, line: this.line }, text: null, flaw: this.noEnd(), raw };
  }

  private skip({ line, raw }: { line: number; raw: string }, isLast: boolean): FileRow | 'more' {
    const newline = this.held.indexOf(NEWLINE);
    if (newline < 0 && !isLast) {
      this.leave(this.held.length, this.line);
      return 'more';
    }
    this.leave(newline < 0 ? this.held.length : newline + 1, this.line + 1);
    this.skipped = null;
    return { line, end: { at: this.at, line: this.line }, text: null, flaw: this.noEnd(), raw };
  }

  private noEnd(): string {
    const max =
      this.rowMaxBytes >= 2 ** 20 ? `${this.rowMaxBytes / 2 ** 20} MiB` : `${this.rowMaxBytes / 2 ** 10} KiB`;
    return `This row is longer than ${max}, or a quote in it is never closed`;
  }

  private leave(bytes: number, line: number): void {
    this.held = this.held.subarray(bytes);
    this.at += bytes;
    this.quote -= bytes;
    this.searched = Math.max(0, this.searched - bytes);
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

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function endOfText(bytes: Uint8Array): number {
  let end = bytes.length;
  if (bytes[end - 1] === NEWLINE) end -= 1;
  if (bytes[end - 1] === RETURN) end -= 1;
  return end;
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes);
  } catch {
    return null;
  }
}

function rawOf(bytes: Uint8Array): string {
  return LENIENT.decode(bytes.subarray(0, RAW_BYTES));
}
