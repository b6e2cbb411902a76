import { reencryptAll, type ReencryptOptions } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { listEncryptedRelays } from './reads.ts';
import { boundTo } from './secrets.ts';
import { type EncryptedRelay, updateEncryptedSecrets } from './store.ts';

const AT_ONCE = 100;

export function reencryptRelaySecrets(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<EncryptedRelay>(options, {
    list: (after) => listEncryptedRelays(tx, { after, limit: AT_ONCE }),
    boundTo,
    write: (relays) => updateEncryptedSecrets(tx, relays),
  });
}
