import { type Moved, writeMoved } from '../features/drafts/index.ts';
import { endMessages } from '../features/sending/index.ts';
import type { Tx } from '../io/db/index.ts';

/**
 * Moves, and what they are to letters that were claimed before: where the draft is canceled nobody tries it any more, so
 * it ends too. It would take a slot of the caps otherwise, and its bytes would be kept for good.
 */
export async function writeMoves(tx: Tx, moved: Moved[]): Promise<void> {
  await writeMoved(tx, moved);
  const canceled = moved.filter(({ move }) => move.action === 'cancel' && move.from !== 'composing');
  const nothing = { epoch: null, reply: null, relayId: null };
  for (const [at, some] of Map.groupBy(canceled, ({ move }) => move.at)) {
    const ends = some.map(({ move: { projectId, draftId, reason } }) => ({ projectId, draftId, reason }));
    await endMessages(tx, { at, ends: ends.map((end) => ({ ...end, ...nothing, state: 'failed' })) });
  }
}
