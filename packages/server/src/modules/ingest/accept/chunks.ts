import { encodePart } from '../queue/chunk.ts';
import type { IngestEntry } from './entry.ts';

/** Position in the blob. `from` counts from 1, as SQL does. */
type Place = { from: number; length: number };
export type BlobPart = Place & { packed: boolean };
export type Chunk = Place & { projectId: number; kind: IngestEntry['kind']; records: number; before: number };
export type Layout = { parts: BlobPart[]; chunks: Chunk[]; bytes: Buffer };

/**
 * Lays out the records of all entries in one blob, so that it can be cut both into chunks and into the entries' own parts.
 *
 * A chunk is a JSON array of all records of one project and one kind. A part that arrives packed is a chunk of its own. Users come before
 * events: all entries arrived together, so either order is right. `before` is the number of records of the project in front of the chunk.
 */
export function layOut(entries: IngestEntry[]): Layout {
  const layout: Open = { parts: entries.map(() => NO_PART), chunks: [], pieces: [], at: 1, laid: new Map() };
  for (const group of groupsOf(entries).values()) {
    for (const member of group) if (member.packed) layAlone(layout, member);
    const loose = group.filter((member) => !member.packed);
    if (loose.length > 0) layTogether(layout, loose);
  }
  return { parts: layout.parts, chunks: layout.chunks, bytes: joined(layout) };
}

type Open = Omit<Layout, 'bytes'> & { pieces: (string | Buffer)[]; at: number; laid: Map<number, number> };
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

function layAlone(layout: Open, { entry, index, bytes }: Member): void {
  const place = lay(layout, bytes);
  layout.parts[index] = { ...place, packed: true };
  addChunk(layout, entry, { ...place, records: entry.records });
}

function layTogether(layout: Open, members: Member[]): void {
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

function lay(layout: Open, piece: string | Buffer): Place {
  const place = { from: layout.at, length: Buffer.byteLength(piece) };
  layout.pieces.push(piece);
  layout.at += place.length;
  return place;
}

function addChunk(layout: Open, { key, kind }: IngestEntry, chunk: Place & { records: number }): void {
  const before = layout.laid.get(key.projectId) ?? 0;
  layout.laid.set(key.projectId, before + chunk.records);
  layout.chunks.push({ ...chunk, projectId: key.projectId, kind, before });
}

function joined({ pieces, at }: Open): Buffer {
  const bytes = Buffer.allocUnsafe(at - 1);
  let to = 0;
  for (const piece of pieces)
    to += typeof piece === 'string' ? bytes.write(piece, to) : piece.copy(bytes, to);
  return bytes;
}
