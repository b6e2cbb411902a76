import { createFileSource } from '../file-source.ts';
import { findKey } from '../reads.ts';
import type { Import } from '../import.ts';
import type { ImportFile } from '../file-format.ts';
import { ImportHalt, type ImportSource } from '../source.ts';
import type { ImportRef } from '../store.ts';
import { keyBoundTo } from '../re-encrypt-keys.ts';
import { partLoader } from '../parts.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { ImportDeps } from './deps.ts';

/** Opens the source that an import reads from. */
export async function openSource(
  { db, sealer, openStripe }: Pick<ImportDeps, 'db' | 'sealer' | 'openStripe'>,
  one: Import,
): Promise<ImportSource> {
  const { projectId, id: importId, kind } = one;
  if (kind !== 'stripe') return createFileSource(fileOf(db, { ...one, kind }));
  const sealed = await findKey(db, one);
  if (!sealed) throw new ImportHalt('key_refused', 'The key is no longer stored. Enter a new one');
  return openStripe({
    projectId,
    importId,
    key: openKey(sealer, one, sealed),
    asOf: one.createdAt,
    unmatchedAsCustomers: one.options?.unmatchedAsCustomers ?? false,
  });
}

export function fileOf(db: Tx, one: Import & { kind: ImportFile['kind'] }): ImportFile {
  const { kind, sizeBytes, mapping } = one;
  return { kind, sizeBytes: sizeBytes ?? 0, mapping, load: partLoader(db, one) };
}

export function sealKey(sealer: ImportDeps['sealer'], ref: ImportRef, key: string): Buffer {
  return sealer.seal(Buffer.from(key), keyBoundTo(ref));
}

function openKey(sealer: ImportDeps['sealer'], ref: ImportRef, sealed: Buffer): string {
  try {
    return sealer.open(sealed, keyBoundTo(ref)).toString();
  } catch (cause) {
    const message = 'The key cannot be read: the secret key of this installation was changed. Enter it again';
    throw new ImportHalt('key_refused', message, { cause });
  }
}
