import type { Clock } from '../../base/clock.ts';
import type { Tx } from '../../io/db/index.ts';
import { updateRevoked } from './store.ts';

/** For good. The caller holds the queue lock of the key's project, which puts this before or after a flush as a whole. */
export async function revokeKey(
  deps: { tx: Tx; clock: Clock },
  key: { last4: string; id: string },
): Promise<{ revokedAt: Date }> {
  const at = new Date(deps.clock.now());
  return { revokedAt: (await updateRevoked(deps.tx, { ...key, at })) ?? at };
}
