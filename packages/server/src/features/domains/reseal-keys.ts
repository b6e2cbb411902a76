import type { Sealer } from '../../base/seal.ts';
import type { Tx } from '../../io/db/index.ts';
import { openKey, sealKey } from './dkim-key.ts';
import { listSealedKeys } from './reads.ts';
import { type SealedKey, updateSealed } from './store.ts';

const AT_ONCE = 100;

/** Seals anew what the installation's previous secret sealed, so that it can be given up. How many there were. */
export async function resealKeys(tx: Tx, sealer: Sealer): Promise<number> {
  let resealed = 0;
  let after: SealedKey | null = null;
  for (let more = true; more;) {
    const page: SealedKey[] = await listSealedKeys(tx, { after, limit: AT_ONCE });
    const stale = page.filter(({ sealed }) => !sealer.isCurrent(sealed));
    await updateSealed(
      tx,
      stale.map((key) => ({ ...key, sealed: sealKey(sealer, openKey(sealer, key.sealed, key), key) })),
    );
    resealed += stale.length;
    after = page.at(-1) ?? null;
    more = page.length === AT_ONCE;
  }
  return resealed;
}
