import {
  type Draft,
  listOpenDrafts,
  setDraftMode,
  type DraftChange,
  type NewMode,
  writeTransitions,
} from '../../drafts/index.ts';
import type { EmailEnd } from '../emails/email-end.ts';
import { endEmails, withdrawClaims } from '../emails/store.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type ModeOfRule = NewMode & { ruleId: string };

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
    const result = await moveOpenDrafts(tx, { projectId, ruleId }, (draft) => {
      const move = setDraftMode(draft, mode);
      return move ? [move] : [];
    });
    moved += result.moved;
    first = Math.min(first, result.dueAt ?? Infinity);
  }
  for (const { ruleId, autopilotMs } of modes) {
    if (autopilotMs === null) await withdrawClaims(tx, { projectId, ruleId });
  }
  return { moved, dueAt: first < Infinity ? first : null };
}

type OfRule = { projectId: number; ruleId: string };

type MovedDrafts = {
  /** Number of changed drafts. */
  moved: number;
  /** The earliest time at which the sender has to check one of them. */
  dueAt: number | null;
  /** The runs whose drafts have ended. */
  endedRuns: string[];
};

const PAGE = 500;

/**
 * Goes through all open drafts of a rule in order of their ids, with one page in memory at a time. It writes the moves decided for each
 * draft: none, one or several. The drafts stay locked until the end of the transaction.
 */
export async function moveOpenDrafts(
  tx: Tx,
  { projectId, ruleId }: OfRule,
  decide: (draft: Draft) => DraftChange[],
): Promise<MovedDrafts> {
  const result: MovedDrafts = { moved: 0, dueAt: null, endedRuns: [] };
  for (let after: string | null = null; ;) {
    const page: Draft[] = await listOpenDrafts(tx, { projectId, ruleId, after, limit: PAGE });
    const decided = page.map(decide).filter((moves) => moves.length > 0);
    await writeMoves(tx, decided.flat());
    result.moved += decided.length;
    for (const moves of decided) note(result, moves);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return result;
    after = last.id;
  }
}

function note(result: MovedDrafts, moves: DraftChange[]): void {
  const draft = moves.at(-1)?.draft;
  if (!draft) return;
  const { dueAt, endedAt, runId } = draft;
  if (dueAt !== null && dueAt < (result.dueAt ?? Infinity)) result.dueAt = dueAt;
  if (endedAt !== null && runId !== null && draft.resendOf === null) result.endedRuns.push(runId);
}

/**
 * Writes moves, and also ends the claimed emails of canceled drafts, because no worker tries them again. Otherwise they would take a slot
 * of the frequency caps, and their bytes would be kept forever.
 */
export async function writeMoves(tx: Tx, moved: DraftChange[]): Promise<void> {
  await writeTransitions(tx, moved);
  const canceled = moved.filter(({ move }) => move.action === 'cancel');
  for (const [at, changes] of Map.groupBy(canceled, ({ move }) => move.at)) {
    const ends = changes.map(({ move: { projectId, draftId, reason, to } }): EmailEnd => {
      const sendResult = { result: 'failed', reason: reason ?? to } as const;
      return { projectId, draftId, epoch: null, sendResult, isAgain: false };
    });
    await endEmails(tx, { at, ends });
  }
}
