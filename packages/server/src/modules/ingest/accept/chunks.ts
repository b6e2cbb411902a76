import { encodePart } from '../queue/chunk.ts';
import type { IngestEntry } from './entry.ts';

/** Position in the blob. `from` counts from 1, as SQL does. */
type BlobRange = { from: number; length: number };
export type BlobPart = BlobRange & { packed: boolean };
export type Chunk = BlobRange & {
  projectId: number;
  kind: IngestEntry['kind'];
  records: number;
  before: number;
};
export type Layout = { parts: BlobPart[]; chunks: Chunk[]; bytes: Buffer };

/**
 * Lays out the records of all entries in one blob, so that it can be cut both into chunks and into the entries' own parts.
 *
 * A chunk is a JSON array of all records of one project and one kind. A part that arrives packed is a chunk of its own. Users come before
 * events: all entries arrived together, so either order is right. `before` is the number of records of the project in front of the chunk.
 */
export function layOut(entries: IngestEntry[]): Layout {
  const layout: LayoutBuilder = {
    parts: entries.map(() => NO_PART),
    chunks: [],
    pieces: [],
    at: 1,
    laid: new Map(),
  };
  for (const group of groupsOf(entries).values()) {
    for (const member of group) if (member.packed) layAlone(layout, member);
    const loose = group.filter((member) => !member.packed);
    if (loose.length > 0) layTogether(layout, loose);
  }
  return { parts: layout.parts, chunks: layout.chunks, bytes: joined(layout) };
}

type LayoutBuilder = Omit<Layout, 'bytes'> & {
  pieces: (string | Buffer)[];
  at: number;
  laid: Map<number, number>;
};
type Member = { entry: IngestEntry; index: number; bytes: string | Buffer; packed: boolean };

/** The part of an entry without records. */
const NO_PART: BlobPart = { from: 1, length: 0, packed: false };

function groupsOf(entries: IngestEntry[]): Map<string, Member[]> {
  const groups = new Map<string, Member[]>();
  for (const kind of ['users', 'events'] as const) {
    for (const [index, entry] of entries.entries()) {
      if (entry.kind !== kind || entry.records === 0) continue;
      const name = `${kind} ${entry.key.projectId}`;
      const member = { entry, index, ...encodePart(entry.parts) };
      const group = groups.get(name);
      if (group) group.push(member);
      else groups.set(name, [member]);
    }
  }
  return groups;
}

function layAlone(layout: LayoutBuilder, { entry, index, bytes }: Member): void {
  const range = lay(layout, bytes);
  layout.parts[index] = { ...range, packed: true };
  addChunk(layout, entry, { ...range, records: entry.records });
}

function layTogether(layout: LayoutBuilder, members: Member[]): void {
  const from = layout.at;
  let records = 0;
  for (const { entry, index, bytes } of members) {
    lay(layout, records === 0 ? '[' : ',');
    layout.parts[index] = { ...lay(layout, bytes), packed: false };
    records += entry.records;
  }
  lay(layout, ']');
  const [first] = members;
  if (first) addChunk(layout, first.entry, { from, length: layout.at - from, records });
}

function lay(layout: LayoutBuilder, piece: string | Buffer): BlobRange {
  const range = { from: layout.at, length: Buffer.byteLength(piece) };
  layout.pieces.push(piece);
  layout.at += range.length;
  return range;
}

function addChunk(
  layout: LayoutBuilder,
  { key, kind }: IngestEntry,
  chunk: BlobRange & { records: number },
): void {
  const before = layout.laid.get(key.projectId) ?? 0;
  layout.laid.set(key.projectId, before + chunk.records);
  layout.chunks.push({ ...chunk, projectId: key.projectId, kind, before });
}

function joined({ pieces, at }: LayoutBuilder): Buffer {
  const bytes = Buffer.allocUnsafe(at - 1);
  let to = 0;
  for (const piece of pieces)
    to += typeof piece === 'string' ? bytes.write(piece, to) : piece.copy(bytes, to);
  return bytes;
}
