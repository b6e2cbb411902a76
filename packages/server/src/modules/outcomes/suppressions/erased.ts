import { normaliseAddress } from '../../../platform/net/address.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type SuppressionHasher,
  deleteLifts,
  movePlaces,
  findKept,
  type ClearPlace,
} from '../../sending/index.ts';

/** Replaces suppressions and refused topics of an erased user by hashes. Returns the number of rows that were in plain text. */
export async function hashPlaces(
  tx: Tx,
  { hasher, places, now }: { hasher: SuppressionHasher; places: ClearPlace[]; now: number },
): Promise<number> {
  const clear = places.map(normalized);
  await deleteLifts(tx, clear);
  const moves = clear.map((from) => ({ projectId: from.projectId, from, to: hasher.hash(from) }));
  return movePlaces(tx, moves, now);
}

export type SuppressionRestore = { hasher: SuppressionHasher; places: ClearPlace[]; now: number };

/**
 * Moves entries from hashes back to these places, because a user has the address again or a member typed it. All checks then find them like
 * any other suppression. Returns the places that had entries.
 */
export async function restorePlaces(
  tx: Tx,
  { hasher, places, now }: SuppressionRestore,
): Promise<ClearPlace[]> {
  if (places.length === 0) return [];
  const byHash = new Map(
    places.map((place) => {
      const from = hasher.hash(place);
      return [from.value, { from, to: normalized(place) }];
    }),
  );
  const kept = await findKept(
    tx,
    [...byHash.values()].map(({ from }) => from),
  );
  const moves = kept.flatMap(({ projectId, value }) => {
    const found = byHash.get(value);
    return found ? [{ projectId, ...found }] : [];
  });
  await movePlaces(tx, moves, now);
  return moves.map(({ to }) => to);
}

function normalized(place: ClearPlace): ClearPlace {
  return place.kind === 'email' ? { ...place, value: normaliseAddress(place.value) } : place;
}
