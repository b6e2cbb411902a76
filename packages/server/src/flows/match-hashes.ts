import { normaliseAddress } from '../base/address.ts';
import { listAddressed } from '../features/people/index.ts';
import {
  type ClearPlace,
  findHashes,
  restorePlaces,
  type SuppressionHasher,
} from '../features/suppressions/index.ts';
import { takeSendTurn } from '../features/sending/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { endForPlaces } from './suppress.ts';

type Matching = { projectId: number; hasher: SuppressionHasher; actor: string };
export type Matched = { drafts: number; runs: number };

/** Hashing takes 2 µs a place, so a page takes a few milliseconds and no lock. */
const USERS_AT_ONCE = 1_000;

/**
 * After hashes were imported: compares every user of the project with them. What matches becomes a row in plain text, and
 * what was under way to that user ends. Users who come meanwhile are compared when they are processed.
 */
export async function matchHashes(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  matching: Matching,
): Promise<Matched> {
  const { projectId } = matching;
  await db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await newModel(tx, projectId);
  });
  const done: Matched = { drafts: 0, runs: 0 };
  let page = await listAddressed(db, { projectId, after: null, limit: USERS_AT_ONCE });
  while (page.length > 0) {
    const places = await matchesOf(db, matching, page);
    if (places.length > 0) {
      const ended = await restore(db, matching, places);
      done.drafts += ended.drafts;
      done.runs += ended.runs;
    }
    const after = page.at(-1)?.userId ?? null;
    page = await listAddressed(db, { projectId, after, limit: USERS_AT_ONCE });
  }
  return done;
}

async function matchesOf(
  tx: Tx,
  { projectId, hasher }: Matching,
  users: { userId: string; email: string | null }[],
): Promise<ClearPlace[]> {
  const places = users.flatMap(({ userId, email }): ClearPlace[] => [
    { projectId, kind: 'person', value: userId },
    ...(email === null ? [] : [{ projectId, kind: 'address' as const, value: normaliseAddress(email) }]),
  ]);
  const byHash = new Map(places.map((place) => [hasher.hash(place).value, place]));
  const found = await findHashes(tx, projectId, [...byHash.keys()]);
  return found.flatMap((hash) => byHash.get(hash) ?? []);
}

function restore(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, hasher, actor }: Matching,
  places: ClearPlace[],
): Promise<Matched> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
    const now = db.clock.now();
    await restorePlaces(tx, { hasher, places, now });
    return endForPlaces(tx, projectId, { places, now, actor });
  });
}
