import { reencryptAll, type ReencryptOptions } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { boundTo } from './dkim-key.ts';
import { listEncryptedKeys } from './reads.ts';
import { type EncryptedDkimKey, updateEncryptedKeys } from './store.ts';

const AT_ONCE = 100;

export function reencryptDkimKeys(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<EncryptedDkimKey>(options, {
    list: (after) => listEncryptedKeys(tx, { after, limit: AT_ONCE }),
    boundTo,
    write: (keys) => updateEncryptedKeys(tx, keys),
  });
}
