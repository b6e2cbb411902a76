import { listAddressed } from '../../users/index.ts';
import { type ClearPlace, type SuppressionHasher, takeSendTurn } from '../../sending/index.ts';
import { restorePlaces } from './erased.ts';
import { takeTurn } from '../../../platform/locks/project-lock.ts';
import type { Database } from '../../../platform/db/database.ts';
import { endForPlaces } from './suppress.ts';

type Matching = { projectId: number; hasher: SuppressionHasher; actor: string };
export type Matched = { drafts: number; runs: number };

/** Hashing takes 3 µs per place, so a page holds the project lock for about ten milliseconds. */
const USERS_AT_ONCE = 1_000;

/**
 * Compares every user of the project with imported hashes. A match becomes a row in plain text, and that user's drafts and runs end. Users
 * who are added in that time are compared when they are processed.
 */
export async function matchHashes(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  matching: Matching,
): Promise<Matched> {
  const { projectId } = matching;
  const done: Matched = { drafts: 0, runs: 0 };
  let page = await listAddressed(db, { projectId, after: null, limit: USERS_AT_ONCE });
  while (page.length > 0) {
    const ended = await matchPage(db, matching, page);
    done.drafts += ended.drafts;
    done.runs += ended.runs;
    const after = page.at(-1)?.userId ?? null;
    page = await listAddressed(db, { projectId, after, limit: USERS_AT_ONCE });
  }
  return done;
}

function matchPage(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, hasher, actor }: Matching,
  users: { userId: string; email: string | null }[],
): Promise<Matched> {
  const places = users.flatMap(({ userId, email }): ClearPlace[] => [
    { projectId, kind: 'user', value: userId },
    ...(email === null ? [] : [{ projectId, kind: 'email' as const, value: email }]),
  ]);
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
    const now = db.clock.now();
    const restored = await restorePlaces(tx, { hasher, places, now });
    return restored.length === 0
      ? { drafts: 0, runs: 0 }
      : endForPlaces(tx, projectId, { places: restored, now, actor });
  });
}
