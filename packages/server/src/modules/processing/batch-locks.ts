import type { WaitingChunk } from '../ingest/index.ts';
import { takeFreeTurns, type Turn } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';

/**
 * Locks the free projects, in the order of the caller, which rotates. A batch has a single current time. Projects whose clock differs from
 * that of the first one therefore wait for the next batch, in which they come first.
 */
export async function takeTurnsOfBatch(tx: Tx, projectIds: number[]): Promise<Turn[]> {
  const free = new Map((await takeFreeTurns(tx, projectIds)).map((turn) => [turn.projectId, turn]));
  const turns = projectIds.flatMap((id) => free.get(id) ?? []);
  const other = turns.findIndex(({ aheadMs }) => aheadMs !== turns[0]?.aheadMs);
  return other === -1 ? turns : turns.slice(0, other);
}

/** Shifts acceptance times to the project's current clock, because accepting uses real time only. */
export function acceptedLater(chunks: WaitingChunk[], aheadMs: number): WaitingChunk[] {
  if (aheadMs === 0) return chunks;
  return chunks.map((chunk) => ({ ...chunk, acceptedAt: new Date(chunk.acceptedAt.getTime() + aheadMs) }));
}
