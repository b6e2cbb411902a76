import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Fault } from '../../platform/fault.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Import, PART_BYTES, partSize, partsOf } from './import.ts';
import { findPart, listPartNumbers } from './reads.ts';
import { type ImportRef, insertPart } from './store.ts';

/** Stores a part of the file. Returns true once all parts are there. Requires a lock on the import. */
export async function keepPart(
  tx: Tx,
  one: Import,
  given: { part: number; bytes: Buffer },
): Promise<boolean> {
  const { part, bytes } = given;
  const sizeBytes = one.sizeBytes ?? 0;
  if (!Number.isSafeInteger(part) || part < 0 || part >= partsOf(sizeBytes))
    throw invalid('part', `The file has ${partsOf(sizeBytes)} parts, numbered from 0`);
  const expected = partSize(sizeBytes, part);
  if (bytes.length !== expected)
    throw invalid('body', `Part ${part} has ${expected} bytes, but ${bytes.length} were received`);
  await insertPart(tx, one, { part, sizeBytes: bytes.length, bytes: zstdCompressSync(bytes) });
  return (await listPartNumbers(tx, one)).length === partsOf(sizeBytes);
}

/** Loads a part as it was sent, or null if it is not there. The last one is cached, because a file is read several times. */
export function partLoader(db: Tx, ref: ImportRef): (part: number) => Promise<Buffer | null> {
  let held: { part: number; bytes: Buffer } | null = null;
  return async function load(part) {
    if (held?.part === part) return held.bytes;
    const row = await findPart(db, ref, part);
    if (!row) return null;
    held = { part, bytes: zstdDecompressSync(row.bytes, { maxOutputLength: PART_BYTES }) };
    return held.bytes;
  };
}

function invalid(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ field, message }] });
}
