import type { Draft } from '../drafts/index.ts';
import { connectionKey, type RelayRef } from '../sending/index.ts';
import type { DraftBatch, DraftBatchResult } from './draft-batch.ts';

/** As with the throttle, a draft stays first in line until its relay has room. Drafts of other relays are not affected. */
export function hasRoom(
  { room }: DraftBatch,
  { claims, blocked }: DraftBatchResult,
  { draft, relay }: { draft: Draft; relay: RelayRef | null },
): boolean {
  const key = connectionKey(relay);
  const known = blocked.get(key);
  if (known) {
    known.draftIds.push(draft.id);
    return false;
  }
  const { capacity, closedUntil } = room.of(relay);
  if (closedUntil === null && (claims.get(key) ?? 0) < capacity) return true;
  blocked.set(key, { relay, until: closedUntil, draftIds: [draft.id] });
  return false;
}
