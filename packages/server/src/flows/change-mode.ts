import { modeChanged, type NewMode } from '../features/drafts/index.ts';
import { withdrawClaims } from '../features/sending/index.ts';
import type { Tx } from '../io/db/index.ts';
import { moveOpenDrafts } from './open-drafts.ts';

export type ModeOfRule = NewMode & { ruleId: string };

/**
 * The open drafts of these rules have another mode. What is claimed and not on its way yet is put back: towards draft-only it is asked for
 * its mode before it leaves. Messages are locked behind all drafts, as everywhere. How many drafts that were, and when the sender has to
 * look at the first of them.
 */
export async function changeModes(
  tx: Tx,
  projectId: number,
  modes: ModeOfRule[],
): Promise<{ moved: number; dueAt: number | null }> {
  let [moved, first] = [0, Infinity];
  for (const { ruleId, ...mode } of modes) {
    const done = await moveOpenDrafts(tx, { projectId, ruleId }, (draft) => {
      const move = modeChanged(draft, mode);
      return move ? [move] : [];
    });
    moved += done.moved;
    first = Math.min(first, done.dueAt ?? Infinity);
  }
  for (const { ruleId, autopilotMs } of modes) {
    if (autopilotMs === null) await withdrawClaims(tx, { projectId, ruleId });
  }
  return { moved, dueAt: first < Infinity ? first : null };
}
