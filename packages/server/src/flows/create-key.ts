import { lockLane } from '../features/inbox/index.ts';
import { createKey as create, type NewKey, type NewKeyWanted } from '../features/keys/index.ts';
import type { Database } from '../io/db/index.ts';

/** Under the project's lane lock, so that two at once do not both find the last place. */
export function createKey(
  deps: { db: Pick<Database, 'transaction' | 'clock'>; pepper: Uint8Array },
  wanted: NewKeyWanted,
): Promise<NewKey> {
  return deps.db.transaction(async (tx) => {
    await lockLane(tx, wanted.projectId);
    return create({ tx, clock: deps.db.clock, pepper: deps.pepper }, wanted);
  });
}
