import { type Draft, listOpenDrafts, type Moved } from '../../drafts/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { writeMoves } from './write-transitions.ts';

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
  decide: (draft: Draft) => Moved[],
): Promise<MovedDrafts> {
  const done: MovedDrafts = { moved: 0, dueAt: null, endedRuns: [] };
  for (let after: string | null = null; ;) {
    const page: Draft[] = await listOpenDrafts(tx, { projectId, ruleId, after, limit: PAGE });
    const decided = page.map(decide).filter((moves) => moves.length > 0);
    await writeMoves(tx, decided.flat());
    done.moved += decided.length;
    for (const moves of decided) note(done, moves);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return done;
    after = last.id;
  }
}

function note(done: MovedDrafts, moves: Moved[]): void {
  const draft = moves.at(-1)?.draft;
  if (!draft) return;
  const { dueAt, endedAt, runId } = draft;
  if (dueAt !== null && dueAt < (done.dueAt ?? Infinity)) done.dueAt = dueAt;
  if (endedAt !== null && runId !== null && draft.resendOf === null) done.endedRuns.push(runId);
}
