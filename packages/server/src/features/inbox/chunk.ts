import { setImmediate } from 'node:timers/promises';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseInPieces } from '../../base/json-pieces.ts';

/**
 * One chunk is the JSON array of its records in UTF-8, in zstd where that is worth it. The format needs no flag of its
 * own: zstd opens with a magic number whose first byte is not `[`.
 */
export function encodeChunk(json: string): Buffer {
  const plain = Buffer.from(json, 'utf8');
  if (plain.length < COMPRESS_FROM_BYTES) return plain;
  const packed = zstdCompressSync(plain, FAST);
  return packed.length < plain.length ? packed : plain;
}

/**
 * What one request adds to a chunk: its records as they are, for the chunk to be put together by others, or, where they
 * are many, packed already and a chunk of their own.
 */
export function encodePart(records: string): { bytes: string | Buffer; packed: boolean } {
  if (records.length < COMPRESS_FROM_BYTES) return { bytes: records, packed: false };
  return { bytes: encodeChunk(`[${records}]`), packed: true };
}

export function decodeChunk(body: Buffer): unknown[] {
  return requireArray(JSON.parse(unpackChunk(body).toString('utf8')));
}

export function unpackChunk(body: Buffer): Buffer {
  const packed = body.length >= MAGIC.length && body.subarray(0, MAGIC.length).equals(MAGIC);
  return packed ? zstdDecompressSync(body, { maxOutputLength: CHUNK_MAX_BYTES }) : body;
}

/** The records of a chunk. Long ones are parsed with pauses, so that the process answers others in between. */
export async function parseChunk(json: Buffer): Promise<unknown[]> {
  if (json.length < PAUSE_FROM_BYTES) return requireArray(JSON.parse(json.toString('utf8')));
  return requireArray(await parseInPieces(json, { listDepth: 1, pause: setImmediate }));
}

function requireArray(records: unknown): unknown[] {
  if (!Array.isArray(records)) throw new TypeError('a chunk that is not an array');
  return records;
}

/** So much is parsed in 50 ms at most. */
const PAUSE_FROM_BYTES = 256 * 1024;
/** A row lives for less than a second: below this, to pack it costs more processor time than its bytes cost the disk. */
const COMPRESS_FROM_BYTES = 16_384;
/** Level 1 packs events to a fifth at about 1 GB/s; level 3 takes half as long again and packs no better. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Far above the largest request, so that only a damaged row meets it. */
const CHUNK_MAX_BYTES = 64 * 1024 * 1024;
