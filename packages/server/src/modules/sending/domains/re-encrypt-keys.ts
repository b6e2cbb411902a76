import { resealAll, type Resealing } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { boundTo } from './dkim-key.ts';
import { listSealedKeys } from './reads.ts';
import { type EncryptedDkimKey, updateSealed } from './store.ts';

const AT_ONCE = 100;

export function resealKeys(tx: Tx, given: Resealing): Promise<number> {
  return resealAll<EncryptedDkimKey>(given, {
    list: (after) => listSealedKeys(tx, { after, limit: AT_ONCE }),
    boundTo,
    write: (keys) => updateSealed(tx, keys),
  });
}
