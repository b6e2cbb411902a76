import type { Tx } from '../../../platform/db/statements.ts';
import { admit } from './admit-hits.ts';
import {
  type Hit,
  type LetterPlace,
  SETTLE_AFTER_MS,
  addHitCounts,
  upsertHits,
} from '../../outcomes/index.ts';
import { listHits } from './hit-reads.ts';

/** Counts all hits and stores those for which there is a slot. Hits of deleted emails are ignored. */
export async function addHits(tx: Tx, hits: Hit[]): Promise<void> {
  const arriving = Map.groupBy(hits, keyOf);
  const counted = [...arriving.values()].flatMap((some) => {
    const [first] = some;
    if (!first) return [];
    const { projectId, messageId } = first;
    const settleAt = Math.min(...some.map(({ at }) => at)) + SETTLE_AFTER_MS;
    return [{ projectId, messageId, hits: some.length, settleAt }];
  });
  const counts = await addHitCounts(tx, counted);
  // Most emails are opened once, and for those no stored hits need to be read.
  const known = counts.filter((count) => count.hits > (arriving.get(keyOf(count))?.length ?? 0));
  const kept = Map.groupBy(await listHits(tx, known), keyOf);
  const admitted = counts.flatMap((letter) => {
    const { projectId, messageId } = letter;
    const admittedOne = admit(kept.get(keyOf(letter)) ?? [], arriving.get(keyOf(letter)) ?? []);
    return admittedOne.map((hit) => ({ ...hit, projectId, messageId }));
  });
  await upsertHits(tx, admitted);
}

function keyOf({ projectId, messageId }: LetterPlace): string {
  return `${projectId} ${messageId}`;
}
