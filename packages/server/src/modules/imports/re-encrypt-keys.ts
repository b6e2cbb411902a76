import { reencryptAll, type ReencryptOptions } from '../../platform/crypto/encrypt.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listEncryptedKeys } from './reads.ts';
import { type ImportRef, type EncryptedImportKey, updateEncryptedKeys } from './store.ts';

const REENCRYPT_BATCH = 100;
const BEGINNING: ImportRef = { projectId: 0, id: '00000000-0000-0000-0000-000000000000' };

export function reencryptImportKeys(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<EncryptedImportKey>(options, {
    list: (after) => listEncryptedKeys(tx, { after: after ?? BEGINNING, limit: REENCRYPT_BATCH }),
    boundTo: keyBoundTo,
    write: (keys) => updateEncryptedKeys(tx, keys),
  });
}

export function keyBoundTo({ projectId, id }: ImportRef): string {
  return `import ${projectId} ${id}`;
}
