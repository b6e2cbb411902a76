import { type Moved, writeMoved } from '../../drafts/index.ts';
import { endMessages } from '../emails/store.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/**
 * Writes moves, and also ends the claimed emails of canceled drafts, because no worker tries them again. Otherwise they would take a slot
 * of the frequency caps, and their bytes would be kept forever.
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
