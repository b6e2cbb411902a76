import { lockQueue } from '../queue/queue.ts';
import { findKey } from './find-key.ts';
import { revokeKey as revoke } from './revoke-key.ts';
import type { Database } from '../../../platform/db/database.ts';

export type RevokedKey = { id: string; label: string; revokedAt: Date };

/**
 * Revokes an API key. The lock of the queue row orders the revocation against the accept flush. When this returns, every request that the
 * key authorized is committed, and no later one will be.
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
