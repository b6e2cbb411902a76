import { Fault } from '../../../platform/fault.ts';
import type { Database } from '../../../platform/db/database.ts';
import { listTokenRows, updateRevoked } from './store.ts';
import { ENDED_KEPT_MS, type ListedToken } from './token.ts';

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'> };

const SHOWN_MAX = 200;

/** Returns live tokens, and those that ended recently. */
export async function listTokens({ db }: Deps, personId: string): Promise<ListedToken[]> {
  const endedSince = new Date(db.clock.now() - ENDED_KEPT_MS);
  return listTokenRows(db, { userId: personId, endedSince, limit: SHOWN_MAX });
}

/** Revokes a token from the next request on. Event streams that it has open end within half a minute. */
export async function revokeToken(
  { db }: Deps,
  { id, personId }: { id: string; personId: string },
): Promise<ListedToken> {
  const now = db.clock.now();
  const revoked = await updateRevoked(db, { id, userId: personId, at: new Date(now) });
  if (revoked) return revoked;
  const message = 'You have no token with this ID';
  throw new Fault('not_found', { details: [{ message, field: 'token' }] });
}
