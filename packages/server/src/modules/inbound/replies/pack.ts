import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { REPLY_RAW_MAX_BYTES } from './reply.ts';

export function packRaw(raw: Uint8Array): Buffer {
  return zstdCompressSync(raw);
}

export function unpackRaw(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { maxOutputLength: REPLY_RAW_MAX_BYTES });
}
