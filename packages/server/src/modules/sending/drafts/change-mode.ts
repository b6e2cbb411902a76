import { modeChanged, type NewMode } from '../../drafts/index.ts';
import { withdrawClaims } from '../emails/store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { moveOpenDrafts } from './open-drafts.ts';

export type ModeOfRule = NewMode & { ruleId: string };

/**
 * Applies a changed mode to the open drafts of these rules. Drafts that are claimed but not yet being sent are withdrawn: after a change to
 * draft-only, the mode is checked again before sending. Email rows are locked after all drafts, as everywhere. Returns the number of
 * drafts, and when the sender has to check the first of them.
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
