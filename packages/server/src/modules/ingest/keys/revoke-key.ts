import type { Clock } from '../../../platform/time/clock.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { updateRevoked } from './store.ts';

/**
 * Revokes a key for good. The caller must hold the queue lock of the key's project, so that this comes before or after a flush as a whole.
 */
export async function revokeKey(
  deps: { tx: Tx; clock: Clock },
  key: { last4: string; id: string },
): Promise<{ revokedAt: Date }> {
  const at = new Date(deps.clock.now());
  return { revokedAt: (await updateRevoked(deps.tx, { ...key, at })) ?? at };
}
