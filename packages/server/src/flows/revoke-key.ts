import { lockQueue } from '../features/inbox/index.ts';
import { findKey, revokeKey as revoke } from '../features/keys/index.ts';
import type { Database } from '../io/db/index.ts';

export type RevokedKey = { id: string; label: string; revokedAt: Date };

/**
 * The queue row lock is what orders a revocation against the accept flush: when this returns, every request that the key
 * opened is committed, and no later one will be.
 */
export function revokeKey(
  db: Pick<Database, 'transaction' | 'clock'>,
  { id, projectId }: { id: string; projectId?: number },
): Promise<RevokedKey> {
  return db.transaction(async (tx) => {
    const key = await findKey(tx, id, projectId);
    await lockQueue(tx, key.projectId);
    const { revokedAt } = await revoke({ tx, clock: db.clock }, key);
    return { id: key.id, label: key.label, revokedAt };
  });
}
