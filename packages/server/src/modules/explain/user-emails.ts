import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { listDecisionsOf, type DecisionCount, listRules, listRunsOf, type Run } from '../rules/index.ts';
import {
  type Draft,
  type StoredDraftContent,
  listContents,
  listDrafts,
  listMoves,
  type DraftTransition,
} from '../drafts/index.ts';
import type { PersonId } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The drafts and decisions of rules about a user, with the names of the API. */
export type DraftView = {
  id: string;
  state: string;
  rule: string;
  external_user_id: string;
  subject: string;
  deadline_at: string | null;
  reason: string | null;
};
export type DecisionView = {
  rule: string;
  fired: boolean;
  reason: string;
  detail: Record<string, unknown>;
  at: string;
  count: number;
  first_at: string;
};

/** Names of rules by id. A deleted rule is named by its id. */
type RuleNames = (ruleId: string) => string;

export async function ruleNames(tx: Tx, projectId: number): Promise<RuleNames> {
  const names = new Map((await listRules(tx, projectId)).map(({ id, name }) => [id, name]));
  return (ruleId) => names.get(ruleId) ?? ruleId;
}

function draftView(draft: Draft, names: RuleNames): DraftView {
  const { id, state, ruleId, userId, content, deadlineAt, reason } = draft;
  return {
    id,
    state,
    rule: names(ruleId),
    external_user_id: userId,
    subject: content.subject,
    deadline_at: isoOrNull(deadlineAt),
    reason,
  };
}

export function decisionView(row: DecisionCount, names: RuleNames): DecisionView {
  const { ruleId, reason, detail, at, count, firstAt } = row;
  return {
    rule: names(ruleId),
    fired: reason === 'fired',
    reason,
    detail,
    at: iso(at),
    count,
    first_at: iso(firstAt),
  };
}

export type RunView = {
  id: string;
  rule: string;
  version: number;
  state: Run['state'];
  variant: Run['variant'];
  waits_for: Run['waitsFor'];
  next_at: string | null;
  enrolled_at: string;
  converted_at: string | null;
  ended_at: string | null;
  end_reason: Run['endReason'];
};

export function runView(run: Run, names: RuleNames): RunView {
  const { id, ruleId, version, state, variant, waitsFor, nextAt, enrolledAt, convertedAt, endedAt } = run;
  return {
    id,
    rule: names(ruleId),
    version,
    state,
    variant,
    waits_for: waitsFor,
    next_at: isoOrNull(nextAt),
    enrolled_at: iso(enrolledAt),
    converted_at: isoOrNull(convertedAt),
    ended_at: isoOrNull(endedAt),
    end_reason: run.endReason,
  };
}

type DraftHistory = { draft: Draft; moves: DraftTransition[]; texts: StoredDraftContent[] };

/** Yields all drafts of a user with every text and every move, page by page, newest first. */
export async function* listDraftHistories(
  tx: Tx,
  { projectId, userId, pageOf }: PersonId & { pageOf: number },
): AsyncGenerator<DraftHistory[], void, void> {
  const of = { projectId, userId, state: null, ruleId: null, limit: pageOf };
  let after: string | null | undefined = null;
  while (after !== undefined) {
    const drafts: Draft[] = await listDrafts(tx, { ...of, after });
    const histories = [];
    for (const draft of drafts) {
      const moves = await listMoves(tx, projectId, draft.id);
      const texts = draft.isEdited ? await listContents(tx, projectId, draft.id) : [];
      histories.push({ draft, moves, texts });
    }
    yield histories;
    after = drafts.length < pageOf ? undefined : drafts.at(-1)?.id;
  }
}

export function draftHistoryView({ draft, moves, texts }: DraftHistory, names: RuleNames): object {
  return {
    ...draftView(draft, names),
    version: draft.version,
    key: draft.key,
    preheader: draft.content.preheader,
    body: draft.content.body,
    format: draft.content.format,
    is_edited: draft.isEdited,
    facts: draft.facts,
    expires_at: isoOrNull(draft.expiresAt),
    ends_at: isoOrNull(draft.endsAt),
    created_at: iso(draft.createdAt),
    updated_at: iso(draft.updatedAt),
    ended_at: isoOrNull(draft.endedAt),
    texts: texts.map(({ at, actor, content }) => ({ at: iso(at), actor, ...content })),
    moves: moves.map(({ number, at, action, from, to, actor, reason, detail }) => ({
      number,
      at: iso(at),
      action,
      from,
      to,
      actor,
      reason,
      detail,
    })),
  };
}

const LIST_MAX = 1_000;

/** Returns the newest drafts, decisions and runs. */
export async function listEmailsOf(
  tx: Tx,
  { projectId, userId }: PersonId,
): Promise<{ drafts: DraftView[]; decisions: DecisionView[]; runs: RunView[] }> {
  const of = { projectId, userId, limit: LIST_MAX };
  const names = await ruleNames(tx, projectId);
  const drafts = await listDrafts(tx, { ...of, state: null, ruleId: null, after: null });
  const decisions = await listDecisionsOf(tx, of);
  const runs = await listRunsOf(tx, of);
  return {
    drafts: drafts.map((draft) => draftView(draft, names)),
    decisions: decisions.map((row) => decisionView(row, names)),
    runs: runs.map((run) => runView(run, names)),
  };
}
