import { type Draft, listOpenDrafts, type Moved } from '../features/drafts/index.ts';
import type { Tx } from '../io/db/index.ts';
import { writeMoves } from './write-moves.ts';

type OfRule = { projectId: number; ruleId: string };

type MovedDrafts = {
  /** How many drafts. */
  moved: number;
  /** The first moment at which the sender has to look at one of them. */
  dueAt: number | null;
  /** The runs whose drafts came to their end by it. */
  endedRuns: string[];
};

const PAGE = 500;

/**
 * Goes through all open drafts of a rule in the order of their ids, a page in memory at a time, and writes what was decided
 * about each: no move, or one behind the other. They stay locked until the end of the transaction.
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
