import { setImmediate } from 'node:timers/promises';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseInPieces } from '../../../platform/text/json-pieces.ts';

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
  return requireArray(JSON.parse(unpackChunk(body).toString('utf8')));
}

export function unpackChunk(body: Buffer): Buffer {
  const packed = body.length >= MAGIC.length && body.subarray(0, MAGIC.length).equals(MAGIC);
  return packed ? zstdDecompressSync(body, { maxOutputLength: CHUNK_MAX_BYTES }) : body;
}

/** Parses the records of a chunk. Long chunks are parsed with pauses, so that the process can handle other requests in between. */
export async function parseChunk(json: Buffer): Promise<unknown[]> {
  if (json.length < PAUSE_FROM_BYTES) return requireArray(JSON.parse(json.toString('utf8')));
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
