import { resealAll, type Resealing } from '../../platform/crypto/encrypt.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listSealedKeys } from './reads.ts';
import { type ImportRef, type EncryptedImportKey, updateSealedKeys } from './store.ts';

const RESEALED_AT_ONCE = 100;
const BEGINNING: ImportRef = { projectId: 0, id: '00000000-0000-0000-0000-000000000000' };

export function resealImportKeys(tx: Tx, given: Resealing): Promise<number> {
  return resealAll<EncryptedImportKey>(given, {
    list: (after) => listSealedKeys(tx, { after: after ?? BEGINNING, limit: RESEALED_AT_ONCE }),
    boundTo: keyBoundTo,
    write: (keys) => updateSealedKeys(tx, keys),
  });
}

export function keyBoundTo({ projectId, id }: ImportRef): string {
  return `import ${projectId} ${id}`;
}
