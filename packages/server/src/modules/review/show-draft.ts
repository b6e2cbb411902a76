import { type Draft, findDraft, type Move } from '../drafts/index.ts';
import { listOutcomesOfDraft, type ShownOutcome, toShownOutcome } from '../outcomes/index.ts';
import { readTurn } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { createModels, type Models } from '../rules/index.ts';
import { type DraftRef, isDraftId, unknownDraft } from './move-draft.ts';
import { ruleNames } from '../explain/index.ts';
import { type LookAhead, lookAhead, type Mailroom } from '../delivery/index.ts';

/** `ahead`: the result if the draft were sent now; null once it has ended. `outcomes`: the outcomes of its email. */
export type ShownWhole = {
  draft: Draft;
  rule: string;
  moves: Move[];
  ahead: LookAhead | null;
  outcomes: ShownOutcome[];
};

const OUTCOMES_SHOWN_MAX = 1_000;

/** Returns a draft with its text, every move, and the current result of the send checks. */
export async function showDraft(
  tx: Tx,
  { projectId, draftId, ...looking }: DraftRef & Looking,
): Promise<ShownWhole> {
  const found = isDraftId(draftId) ? await findDraft(tx, projectId, draftId) : undefined;
  if (!found) throw unknownDraft(draftId);
  const { draft, moves } = found;
  const names = await ruleNames(tx, projectId);
  const rule = names(draft.ruleId);
  const became = await listOutcomesOfDraft(tx, { projectId, draftId, limit: OUTCOMES_SHOWN_MAX });
  const outcomes = became.map((outcome) => toShownOutcome(outcome, names));
  const isOpen = draft.endedAt === null && draft.state !== 'sending';
  const ahead = isOpen ? await look(tx, draft, looking) : null;
  return { draft, rule, moves, ahead, outcomes };
}

type Looking = {
  now: number;
  mailroom: Mailroom;
  /** Shared by callers that look at many drafts. */
  models?: Models;
};

async function look(tx: Tx, draft: Draft, { now, mailroom, models }: Looking): Promise<LookAhead | null> {
  const { projectId } = draft;
  const known = models ?? createModels({ now: () => now });
  const model = (await known.of(tx, [await readTurn(tx, projectId)])).get(projectId);
  return model ? lookAhead(tx, draft, { model, now, mailroom }) : null;
}
