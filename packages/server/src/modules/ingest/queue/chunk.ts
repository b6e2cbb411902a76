import { setImmediate } from 'node:timers/promises';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type ChunkQuery, listChunks, listOldest, settleChunks } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { parseInPieces } from '../../../platform/text/json-pieces.ts';
import { parseJson } from '../../../platform/text/parse-json.ts';

export type IngestPriority = 'live' | 'bulk';

/** A waiting chunk: its records from the first that is not applied yet. `seq` is the sequence number of that record. */
export type WaitingChunk = {
  projectId: number;
  priority: IngestPriority;
  /** The sequence number of the chunk's first record, which identifies the row. */
  rowSeq: number;
  seq: number;
  kind: 'users' | 'events';
  acceptedAt: Date;
  records: unknown[];
  /** The approximate size of these records as JSON. */
  bytes: number;
};

/**
 * Reads the waiting records of a priority in the order of acceptance. Requires the locks of these projects. Chunks that would exceed the
 * byte limit of their project stay packed. Ten chunks of 6 MB may be stored in 10 kB, and all would be parsed for each batch of 4 MB.
 */
export async function takeChunks(tx: Tx, query: ChunkQuery): Promise<WaitingChunk[]> {
  const rows = await listChunks(tx, query);
  const chunks: WaitingChunk[] = [];
  const bytesTaken = new Map<number, number>();
  for (const row of rows) {
    const taken = bytesTaken.get(row.project_id) ?? 0;
    if (taken >= query.bytes) continue;
    const json = unpackChunk(row.body);
    const all = await parseChunk(json);
    const records = row.applied === 0 ? all : all.slice(row.applied);
    const bytes = (json.length * records.length) / all.length;
    bytesTaken.set(row.project_id, taken + bytes);
    chunks.push({
      projectId: row.project_id,
      priority: query.priority,
      rowSeq: row.seq,
      seq: row.seq + row.applied,
      kind: row.kind,
      acceptedAt: row.accepted_at,
      records,
      bytes,
    });
  }
  return chunks;
}

/** Returns the sequence number of the oldest waiting record for each of these projects that has one. */
export async function oldestWaiting(
  tx: Tx,
  projectIds: number[],
  priority: IngestPriority,
): Promise<Map<number, number>> {
  const rows = await listOldest(tx, projectIds, priority);
  return new Map(rows.map((row) => [row.project_id, row.seq]));
}

/** How many of a chunk's waiting records were handled. */
export type ChunkProgress = {
  projectId: number;
  priority: IngestPriority;
  rowSeq: number;
  records: number;
  isWhole: boolean;
};

export function settle(tx: Tx, progress: ChunkProgress[]): Promise<void> {
  return settleChunks(
    tx,
    progress.map(({ projectId, priority, rowSeq, records, isWhole }) => ({
      project_id: projectId,
      priority,
      seq: rowSeq,
      records,
      is_whole: isWhole,
    })),
  );
}

/**
 * Encodes a chunk: the JSON array of its records in UTF-8, compressed with zstd if that pays. The format needs no flag, because zstd starts
 * with a magic number whose first byte is not `[`.
 */
export function encodeChunk(json: string): Buffer {
  const plain = Buffer.from(json, 'utf8');
  if (plain.length < COMPRESS_FROM_BYTES) return plain;
  const packed = zstdCompressSync(plain, FAST);
  return packed.length < plain.length ? packed : plain;
}

/**
 * Encodes the records that one request adds to a chunk. A few stay as they are and are combined with others later. Many are compressed as
 * their own chunk.
 */
export function encodePart(records: string): { bytes: string | Buffer; packed: boolean } {
  if (records.length < COMPRESS_FROM_BYTES) return { bytes: records, packed: false };
  return { bytes: encodeChunk(`[${records}]`), packed: true };
}

export function decodeChunk(body: Buffer): unknown[] {
  return requireArray(parseJson(unpackChunk(body).toString('utf8')));
}

function unpackChunk(body: Buffer): Buffer {
  const packed = body.length >= MAGIC.length && body.subarray(0, MAGIC.length).equals(MAGIC);
  return packed ? zstdDecompressSync(body, { maxOutputLength: CHUNK_MAX_BYTES }) : body;
}

/** Parses the records of a chunk. Long chunks are parsed with pauses, so that the process can handle other requests in between. */
async function parseChunk(json: Buffer): Promise<unknown[]> {
  if (json.length < PAUSE_FROM_BYTES) return requireArray(parseJson(json.toString('utf8')));
  return requireArray(await parseInPieces(json, { listDepth: 1, pause: setImmediate }));
}

function requireArray(records: unknown): unknown[] {
  if (!Array.isArray(records)) throw new TypeError('a chunk that is not an array');
  return records;
}

/** Parsing this much takes at most 50 ms. */
const PAUSE_FROM_BYTES = 256 * 1024;
/** A row exists for less than a second. Below this size, compression costs more CPU time than the bytes cost on disk. */
const COMPRESS_FROM_BYTES = 16_384;
/** Level 1 compresses events to a fifth at about 1 GB/s. Level 3 takes half as long again and compresses no better. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Far above the largest request, so only a damaged row can exceed it. */
const CHUNK_MAX_BYTES = 64 * 1024 * 1024;
