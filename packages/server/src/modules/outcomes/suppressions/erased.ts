import { normaliseAddress } from '../../../platform/net/address.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { SuppressionHasher, ClearTarget } from '../../sending/index.ts';
import { deleteLifts, moveTargets } from './move-store.ts';
import { findKept } from './reads.ts';

/** Replaces suppressions and refused topics of an erased user by hashes. Returns the number of rows that were in plain text. */
export async function hashTargets(
  tx: Tx,
  { hasher, targets, now }: { hasher: SuppressionHasher; targets: ClearTarget[]; now: number },
): Promise<number> {
  const clear = targets.map(normalized);
  await deleteLifts(tx, clear);
  const moves = clear.map((from) => ({ projectId: from.projectId, from, to: hasher.hash(from) }));
  return moveTargets(tx, moves, now);
}

export type SuppressionRestore = { hasher: SuppressionHasher; targets: ClearTarget[]; now: number };

/**
 * Moves entries from hashes back to these places, because a user has the address again or a member typed it. All checks then find them like
 * any other suppression. Returns the places that had entries.
 */
export async function restoreTargets(
  tx: Tx,
  { hasher, targets, now }: SuppressionRestore,
): Promise<ClearTarget[]> {
  if (targets.length === 0) return [];
  const byHash = new Map(
    targets.map((target) => {
      const from = hasher.hash(target);
      return [from.value, { from, to: normalized(target) }];
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
  await moveTargets(tx, moves, now);
  return moves.map(({ to }) => to);
}

function normalized(target: ClearTarget): ClearTarget {
  return target.kind === 'email' ? { ...target, value: normaliseAddress(target.value) } : target;
}
