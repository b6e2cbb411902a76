import type { WaitingChunk } from '../ingest/index.ts';
import { takeFreeProjectLocks, type ProjectLock } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';

/**
 * Locks the free projects, in the order of the caller, which rotates. A batch has a single current time. Projects whose clock differs from
 * that of the first one therefore wait for the next batch, in which they come first.
 */
export async function takeBatchLocks(tx: Tx, projectIds: number[]): Promise<ProjectLock[]> {
  const free = new Map((await takeFreeProjectLocks(tx, projectIds)).map((lock) => [lock.projectId, lock]));
  const locks = projectIds.flatMap((id) => free.get(id) ?? []);
  const other = locks.findIndex(({ aheadMs }) => aheadMs !== locks[0]?.aheadMs);
  return other === -1 ? locks : locks.slice(0, other);
}

/** Shifts acceptance times to the project's current clock, because accepting uses real time only. */
export function shiftAcceptance(chunks: WaitingChunk[], aheadMs: number): WaitingChunk[] {
  if (aheadMs === 0) return chunks;
  return chunks.map((chunk) => ({ ...chunk, acceptedAt: new Date(chunk.acceptedAt.getTime() + aheadMs) }));
}
