import { zstdCompressSync } from 'node:zlib';
import type { Tx } from '../../io/db/index.ts';
import { partLoader } from './parts.ts';
import { listPartNumbers } from './reads.ts';
import { type ImportRef, insertPart } from './store.ts';

const NEWLINE = '\n';
const SPACE = 0x20;
const QUOTE = 0x22;

/**
 * Lines of a file in which any of these texts stands become blanks, byte for byte, so that every place in the file stays where it
 * is; quotes stay too, because they hold rows together. Says how many lines. Capitals do not matter.
 */
export async function blankParts(tx: Tx, ref: ImportRef, texts: string[]): Promise<number> {
  const needles = [...new Set(texts.flatMap(spellings))];
  const load = partLoader(tx, ref);
  const walk = new Walk(needles);
  for (const part of await listPartNumbers(tx, ref)) {
    const bytes = await load(part);
    if (!bytes) continue;
    for (const changed of walk.look({ part, bytes: Buffer.from(bytes) }))
      await insertPart(tx, ref, {
        part: changed.part,
        sizeBytes: changed.bytes.length,
        bytes: zstdCompressSync(changed.bytes),
      });
  }
  return walk.lines;
}

/** As bytes that are read one by one: what a text is in UTF-8, plain, in a CSV cell, and in JSON. */
function spellings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [text, text.replaceAll('"', '""'), json, ascii].map((one) => fold(Buffer.from(one)));
}

function fold(bytes: Buffer): string {
  return bytes.toString('latin1').toLowerCase();
}

type Held = { part: number; bytes: Buffer };

class Walk {
  lines = 0;
  private readonly needles: string[];
  private before: Held | null = null;
  /** The end of the part before, from its last line break on. */
  private carried = '';
  private endsBlank = false;

  constructor(needles: string[]) {
    this.needles = needles;
  }

  /** The parts that were changed by looking at this one: itself, and the one before, where a line goes over both. */
  look(held: Held): Held[] {
    const changed = new Set<Held>();
    const text = this.carried + fold(held.bytes);
    if (this.endsBlank)
      this.blank(held, { from: this.carried.length, to: endOf(text, this.carried.length) }, changed);
    this.endsBlank = false;
    for (let hit = this.next(text, 0); hit >= 0;) {
      const from = text.lastIndexOf(NEWLINE, hit) + 1;
      const to = endOf(text, hit);
      this.blank(held, { from, to }, changed);
      this.lines += 1;
      if (to === text.length) this.endsBlank = true;
      hit = this.next(text, to);
    }
    this.carried = text.slice(text.lastIndexOf(NEWLINE) + 1).slice(-held.bytes.length);
    if (this.endsBlank) this.carried = '';
    this.before = held;
    return [...changed];
  }

  private next(text: string, from: number): number {
    const hits = this.needles.map((needle) => text.indexOf(needle, from)).filter((at) => at >= 0);
    return hits.length === 0 ? -1 : Math.min(...hits);
  }

  private blank(held: Held, { from, to }: { from: number; to: number }, changed: Set<Held>): void {
    const shift = this.carried.length;
    if (from < shift && this.before) {
      const start = this.before.bytes.length - shift;
      fill(this.before.bytes, start + from, start + Math.min(to, shift));
      changed.add(this.before);
    }
    if (to > shift) {
      fill(held.bytes, Math.max(0, from - shift), to - shift);
      changed.add(held);
    }
  }
}

function endOf(text: string, from: number): number {
  const end = text.indexOf(NEWLINE, from);
  return end < 0 ? text.length : end;
}

function fill(bytes: Buffer, from: number, to: number): void {
  for (let i = from; i < to; i += 1) if (bytes[i] !== QUOTE) bytes[i] = SPACE;
}
