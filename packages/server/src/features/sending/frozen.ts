import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** A letter as it is kept. Half of it is the same in all letters, so packing leaves about a quarter. */
export function packMime(mime: Uint8Array): Buffer {
  return zstdCompressSync(mime, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export const MIME_MAX_BYTES = 1_000_000;

export function unpackMime(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { maxOutputLength: 2 * MIME_MAX_BYTES });
}
