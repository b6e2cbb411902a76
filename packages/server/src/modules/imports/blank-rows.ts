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
export async function blankParts(tx: Tx, job: Import, person: ErasedPerson): Promise<number> {
  const { kind, mapping } = job;
  if (kind === 'stripe') return 0;
  const cache = new PartCache(tx, job);
  const format = await openFormat(cache).catch(() => null);
  const matcher: RowMatcher = {
    isNamedIn: isNaming(person),
    isTheirs: format ? isRowOf(person, { kind, mapping }, format) : isNaming(person),
  };
  let rows = 0;
  for (const stretch of stretchesOf(await listPartNumbers(tx, job), job.sizeBytes ?? 0))
    rows += await blankStretch(cache, { stretch, format, judge: matcher });
  await cache.keep(0);
  return rows;
}

/** `isNamedIn` is for text that cannot be read as a row. */
type RowMatcher = { isTheirs: IsTheirs; isNamedIn: IsTheirs };

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

type StretchInput = { stretch: Stretch; format: FileFormat | null; judge: RowMatcher };

async function blankStretch(
  parts: PartCache,
  { stretch, format, judge: matcher }: StretchInput,
): Promise<number> {
  const first = { at: stretch.first * PART_BYTES, line: 1 };
  const from = stretch.isBegun ? (format?.begins ?? first) : first;
  const rows = readRows(parts.pieces(stretch, from.at), { from, delimiter: format?.delimiter ?? null });
  let count = 0;
  let begin = from.at;
  // Each row is handled one step later, because only the next row shows that it is not the last.
  let previous: Row | null = null;
  const settle = async (isWhole: boolean): Promise<void> => {
    if (!previous || !isWhole || !(await isOf(parts, previous, matcher))) return;
    await parts.blank(previous.from, previous.end.at);
    count += 1;
  };
  for await (const batch of rows)
    for (const row of batch) {
      await settle(stretch.isBegun || previous?.from !== first.at);
      previous = { ...row, from: begin };
      begin = row.end.at;
    }
  await settle(stretch.isEnded);
  return count;
}

type Row = FileRow & { from: number };

async function isOf(parts: PartCache, row: Row, { isTheirs, isNamedIn }: RowMatcher): Promise<boolean> {
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

type CachedPart = { part: number; bytes: Buffer; isChanged: boolean };

/** Access to the parts of a file, with two of them in memory. A changed part is written when another is loaded. */
class PartCache {
  private readonly tx: Tx;
  private readonly job: Import;
  private readonly find: ImportFile['load'];
  private cached: CachedPart[] = [];

  constructor(tx: Tx, job: Import) {
    this.tx = tx;
    this.job = job;
    this.find = partLoader(tx, job);
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
    for (const { part, bytes, isChanged } of this.cached.splice(0, this.cached.length - most))
      if (isChanged)
        await insertPart(this.tx, this.job, {
          part,
          sizeBytes: bytes.length,
          bytes: zstdCompressSync(bytes),
        });
  }

  private async each(
    { from, to }: { from: number; to: number },
    visit: (held: CachedPart, start: number, end: number) => void,
  ): Promise<void> {
    for (let part = Math.floor(from / PART_BYTES); part * PART_BYTES < to; part += 1) {
      const held = await this.open(part);
      const start = part * PART_BYTES;
      if (held) visit(held, Math.max(0, from - start), Math.min(held.bytes.length, to - start));
    }
  }

  private async open(part: number): Promise<CachedPart | null> {
    const found = this.cached.find((entry) => entry.part === part);
    if (found) return found;
    const bytes = await this.find(part);
    if (!bytes) return null;
    await this.keep(HELD_MAX - 1);
    const opened = { part, bytes, isChanged: false };
    this.cached.push(opened);
    return opened;
  }
}

const SPACE = 0x20;
const BREAKS: ReadonlySet<number | undefined> = new Set([0x0a, 0x0d]);
