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
  { db, encrypter, openStripe }: Pick<ImportDeps, 'db' | 'encrypter' | 'openStripe'>,
  job: Import,
): Promise<ImportSource> {
  const { projectId, id: importId, kind } = job;
  if (kind !== 'stripe') return createFileSource(fileOf(db, { ...job, kind }));
  const encrypted = await findKey(db, job);
  if (!encrypted) throw new ImportHalt('key_refused', 'The key is no longer stored. Enter a new one');
  return openStripe({
    projectId,
    importId,
    key: decryptKey(encrypter, job, encrypted),
    asOf: job.createdAt,
    unmatchedAsCustomers: job.options?.unmatchedAsCustomers ?? false,
  });
}

export function fileOf(db: Tx, job: Import & { kind: ImportFile['kind'] }): ImportFile {
  const { kind, sizeBytes, mapping } = job;
  return { kind, sizeBytes: sizeBytes ?? 0, mapping, load: partLoader(db, job) };
}

export function encryptKey(encrypter: ImportDeps['encrypter'], ref: ImportRef, key: string): Buffer {
  return encrypter.encrypt(Buffer.from(key), keyBoundTo(ref));
}

function decryptKey(encrypter: ImportDeps['encrypter'], ref: ImportRef, encrypted: Buffer): string {
  try {
    return encrypter.decrypt(encrypted, keyBoundTo(ref)).toString();
  } catch (cause) {
    const message = 'The key cannot be read: the secret key of this installation was changed. Enter it again';
    throw new ImportHalt('key_refused', message, { cause });
  }
}
