import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Fault } from '../../platform/fault.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Import, PART_BYTES, partSize, partsOf } from './import.ts';
import { findPart, listPartNumbers } from './reads.ts';
import { type ImportRef, insertPart } from './store.ts';

/** Stores a part of the file. Returns true once all parts are there. Requires a lock on the import. */
export async function keepPart(
  tx: Tx,
  job: Import,
  input: { part: number; bytes: Buffer },
): Promise<boolean> {
  const { part, bytes } = input;
  const sizeBytes = job.sizeBytes ?? 0;
  if (!Number.isSafeInteger(part) || part < 0 || part >= partsOf(sizeBytes))
    throw invalid('part', `The file has ${partsOf(sizeBytes)} parts, numbered from 0`);
  const expected = partSize(sizeBytes, part);
  if (bytes.length !== expected)
    throw invalid('body', `Part ${part} has ${expected} bytes, but ${bytes.length} were received`);
  await insertPart(tx, job, { part, sizeBytes: bytes.length, bytes: zstdCompressSync(bytes) });
  return (await listPartNumbers(tx, job)).length === partsOf(sizeBytes);
}

/** Loads a part as it was sent, or null if it is not there. The last one is cached, because a file is read several times. */
export function partLoader(db: Tx, ref: ImportRef): (part: number) => Promise<Buffer | null> {
  let cached: { part: number; bytes: Buffer } | null = null;
  return async function load(part) {
    if (cached?.part === part) return cached.bytes;
    const row = await findPart(db, ref, part);
    if (!row) return null;
    cached = { part, bytes: zstdDecompressSync(row.bytes, { maxOutputLength: PART_BYTES }) };
    return cached.bytes;
  };
}

function invalid(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ field, message }] });
}
