import type { WaitingChunk } from '../../features/inbox/index.ts';
import { takeFreeTurns, type Turn } from '../../features/turns/index.ts';
import type { Tx } from '../../io/db/index.ts';

/**
 * Those that are free, whoever stands first in front: the order in which the caller named them goes round. A batch has one now, so
 * projects whose clock shows another time than that of the first wait for the next batch, where they are the first.
 */
export async function takeTurnsOfBatch(tx: Tx, projectIds: number[]): Promise<Turn[]> {
  const free = new Map((await takeFreeTurns(tx, projectIds)).map((turn) => [turn.projectId, turn]));
  const turns = projectIds.flatMap((id) => free.get(id) ?? []);
  const other = turns.findIndex(({ aheadMs }) => aheadMs !== turns[0]?.aheadMs);
  return other === -1 ? turns : turns.slice(0, other);
}

/** Accepting knows real time alone: what came in, came in when it did by the project's clock as it is now. */
export function acceptedLater(chunks: WaitingChunk[], aheadMs: number): WaitingChunk[] {
  if (aheadMs === 0) return chunks;
  return chunks.map((chunk) => ({ ...chunk, acceptedAt: new Date(chunk.acceptedAt.getTime() + aheadMs) }));
}
