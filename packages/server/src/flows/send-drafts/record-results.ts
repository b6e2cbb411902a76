import {
  type Draft,
  finish,
  isRefused,
  lockDrafts,
  type Moved,
  writeMoved,
} from '../../features/drafts/index.ts';
import { endMessages } from '../../features/sending/index.ts';
import { wakeRuns } from '../../features/sequences/index.ts';
import { dueEarlier } from '../../features/turns/index.ts';
import type { Database } from '../../io/db/index.ts';
import type { Handed } from './transport.ts';

export type LetterResult = { draftId: string; handed: Handed };

/** The second commit: what became of letters that were handed over, and their runs go on. */
export function recordResults(
  db: Pick<Database, 'transaction' | 'clock'>,
  projectId: number,
  results: LetterResult[],
): Promise<void> {
  return db.transaction(async (tx) => {
    const now = db.clock.now();
    const byDraft = new Map(results.map(({ draftId, handed }) => [draftId, handed]));
    const drafts = await lockDrafts(tx, projectId, [...byDraft.keys()]);
    const moved = drafts.flatMap((draft) => ended(draft, byDraft.get(draft.id), now));
    await writeMoved(tx, moved);
    await endMessages(tx, {
      projectId,
      at: now,
      ends: results.map(({ draftId, handed }) => ({
        draftId,
        state: handed.result,
        reason: 'reason' in handed ? handed.reason : null,
      })),
    });
    const ids = moved.flatMap(({ draft }) => (draft.againOf === null ? (draft.runId ?? []) : []));
    const awake = await wakeRuns(tx, { projectId, ids, at: now });
    if (awake.length > 0) await dueEarlier(tx, 'digest', [{ projectId, nextAt: new Date(now) }]);
  });
}

/** Whoever held it for lost, and said so, was first. */
function ended(draft: Draft, handed: Handed | undefined, now: number): Moved[] {
  if (!handed) return [];
  const decided = finish(draft, handed, { now });
  return isRefused(decided) ? [] : [decided];
}
