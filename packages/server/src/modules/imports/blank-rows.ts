import { zstdCompressSync } from 'node:zlib';
import { type FileRow, readRows, ROW_MAX_BYTES } from '@beckon/contract/files';
import type { Tx } from '../../platform/db/statements.ts';
import type { FileFormat, ImportFile } from './file-format.ts';
import { openFormat } from './file-source.ts';
import { type Import, PART_BYTES } from './import.ts';
import { partLoader } from './parts.ts';
import { listPartNumbers } from './reads.ts';
import { insertPart } from './store.ts';
import { type ErasedPerson, isNaming, isRowOf, type IsTheirs } from './row-owner.ts';

/**
 * Replaces a user's rows in a file with spaces, byte for byte, so that every position and line number stays valid. A row is what the import
 * reads as one, with any number of lines, and not the header. Returns the number of rows.
 */
export async function blankParts(tx: Tx, one: Import, person: ErasedPerson): Promise<number> {
  const { kind, mapping } = one;
  if (kind === 'stripe') return 0;
  const parts = new HeldParts(tx, one);
  const format = await openFormat(parts).catch(() => null);
  const judge: Judge = {
    isNamedIn: isNaming(person),
    isTheirs: format ? isRowOf(person, { kind, mapping }, format) : isNaming(person),
  };
  let rows = 0;
  for (const stretch of stretchesOf(await listPartNumbers(tx, one), one.sizeBytes ?? 0))
    rows += await blankStretch(parts, { stretch, format, judge });
  await parts.keep(0);
  return rows;
}

/** `isNamedIn` is for text that cannot be read as a row. */
type Judge = { isTheirs: IsTheirs; isNamedIn: IsTheirs };

/** A range of adjacent parts, because others may not be uploaded yet. `isBegun` and `isEnded`: its first and last row are complete. */
type Stretch = { first: number; last: number; isBegun: boolean; isEnded: boolean };

function stretchesOf(numbers: number[], sizeBytes: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const part of numbers) {
    const isEnded = (part + 1) * PART_BYTES >= sizeBytes;
    const before = stretches.at(-1);
    if (before?.last === part - 1) Object.assign(before, { last: part, isEnded });
    else stretches.push({ first: part, last: part, isBegun: part === 0, isEnded });
  }
  return stretches;
}

type Walk = { stretch: Stretch; format: FileFormat | null; judge: Judge };

async function blankStretch(parts: HeldParts, { stretch, format, judge }: Walk): Promise<number> {
  const first = { at: stretch.first * PART_BYTES, line: 1 };
  const from = stretch.isBegun ? (format?.begins ?? first) : first;
  const rows = readRows(parts.pieces(stretch, from.at), { from, delimiter: format?.delimiter ?? null });
  let count = 0;
  let begin = from.at;
  // Each row is handled one step later, because only the next row shows that it is not the last.
  let held: Row | null = null;
  const settle = async (isWhole: boolean): Promise<void> => {
    if (!held || !isWhole || !(await isOf(parts, held, judge))) return;
    await parts.blank(held.from, held.end.at);
    count += 1;
  };
  for await (const some of rows)
    for (const row of some) {
      await settle(stretch.isBegun || held?.from !== first.at);
      held = { ...row, from: begin };
      begin = row.end.at;
    }
  await settle(stretch.isEnded);
  return count;
}

type Row = FileRow & { from: number };

async function isOf(parts: HeldParts, row: Row, { isTheirs, isNamedIn }: Judge): Promise<boolean> {
  if (row.text !== null) return isTheirs(row.text);
  for (let at = row.from; at < row.end.at; at += ROW_MAX_BYTES) {
    const bytes = await parts.read(at, Math.min(row.end.at, at + ROW_MAX_BYTES));
    if (isNamedIn(bytes.toString('utf8'))) return true;
  }
  return false;
}

const PIECE_BYTES = 256 * 1024;
/** A readable row spans at most two parts. */
const HELD_MAX = 2;

type Held = { part: number; bytes: Buffer; isChanged: boolean };

/** Access to the parts of a file, with two of them in memory. A changed part is written when another is loaded. */
class HeldParts {
  private readonly tx: Tx;
  private readonly one: Import;
  private readonly find: ImportFile['load'];
  private held: Held[] = [];

  constructor(tx: Tx, one: Import) {
    this.tx = tx;
    this.one = one;
    this.find = partLoader(tx, one);
  }

  async load(part: number): Promise<Buffer | null> {
    return (await this.open(part))?.bytes ?? null;
  }

  async *pieces({ last }: Stretch, from: number): AsyncGenerator<Buffer, void, void> {
    for (let part = Math.floor(from / PART_BYTES); part <= last; part += 1) {
      const bytes = (await this.load(part)) ?? Buffer.alloc(0);
      // Copied, because the bytes that were read must stay unchanged when the row is replaced.
      for (let at = Math.max(0, from - part * PART_BYTES); at < bytes.length; at += PIECE_BYTES)
        yield Buffer.from(bytes.subarray(at, at + PIECE_BYTES));
    }
  }

  async read(from: number, to: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    await this.each({ from, to }, (held, start, end) => pieces.push(held.bytes.subarray(start, end)));
    return Buffer.concat(pieces);
  }

  async blank(from: number, to: number): Promise<void> {
    await this.each({ from, to }, (held, start, end) => {
      held.isChanged = true;
      for (let i = start; i < end; i += 1) if (!BREAKS.has(held.bytes[i])) held.bytes[i] = SPACE;
    });
  }

  /** Keeps this many parts in memory and writes the others if they changed. */
  async keep(most: number): Promise<void> {
    for (const { part, bytes, isChanged } of this.held.splice(0, this.held.length - most))
      if (isChanged)
        await insertPart(this.tx, this.one, {
          part,
          sizeBytes: bytes.length,
          bytes: zstdCompressSync(bytes),
        });
  }

  private async each(
    { from, to }: { from: number; to: number },
    visit: (held: Held, start: number, end: number) => void,
  ): Promise<void> {
    for (let part = Math.floor(from / PART_BYTES); part * PART_BYTES < to; part += 1) {
      const held = await this.open(part);
      const start = part * PART_BYTES;
      if (held) visit(held, Math.max(0, from - start), Math.min(held.bytes.length, to - start));
    }
  }

  private async open(part: number): Promise<Held | null> {
    const found = this.held.find((one) => one.part === part);
    if (found) return found;
    const bytes = await this.find(part);
    if (!bytes) return null;
    await this.keep(HELD_MAX - 1);
    const opened = { part, bytes, isChanged: false };
    this.held.push(opened);
    return opened;
  }
}

const SPACE = 0x20;
const BREAKS: ReadonlySet<number | undefined> = new Set([0x0a, 0x0d]);
