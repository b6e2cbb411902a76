import { reencryptAll, type ReencryptOptions } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { listEncryptedSources } from './reads.ts';
import { boundTo, type EncryptedSource } from './source.ts';
import { updateEncryptedSources } from './store.ts';

const AT_ONCE = 100;

export function reencryptReplySources(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<EncryptedSource>(options, {
    list: (after) => listEncryptedSources(tx, { after, limit: AT_ONCE }),
    boundTo,
    write: (sources) => updateEncryptedSources(tx, sources),
  });
}
