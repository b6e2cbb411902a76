import { normaliseAddress } from '../../base/address.ts';
import type { Tx } from '../../io/db/index.ts';
import type { SuppressionHasher } from './hasher.ts';
import { deleteLifts, movePlaces } from './move-store.ts';
import type { ClearPlace } from './suppression.ts';

/** Replaces what is known of an erased user's places by hashes. How many rows in plain text that were. */
export async function hashPlaces(
  tx: Tx,
  { hasher, places, now }: { hasher: SuppressionHasher; places: ClearPlace[]; now: number },
): Promise<number> {
  const clear = places.map(normalized);
  await deleteLifts(tx, clear);
  const moves = clear.map((from) => ({ projectId: from.projectId, from, to: hasher.hash(from) }));
  return movePlaces(tx, moves, now);
}

/**
 * Puts what hashes say of these places back onto the places themselves: a user has the address again, or a member typed it.
 * Every check then finds it as it finds any other suppression. How many hashed rows that were.
 */
export function restorePlaces(
  tx: Tx,
  { hasher, places, now }: { hasher: SuppressionHasher; places: ClearPlace[]; now: number },
): Promise<number> {
  const moves = places.map(normalized).map((to) => ({ projectId: to.projectId, from: hasher.hash(to), to }));
  return movePlaces(tx, moves, now);
}

function normalized(place: ClearPlace): ClearPlace {
  return place.kind === 'address' ? { ...place, value: normaliseAddress(place.value) } : place;
}
