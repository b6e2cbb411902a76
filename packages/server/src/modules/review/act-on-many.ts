import { type LookAhead, lookAheadOfAll, type SendServices, type GateResult } from '../delivery/index.ts';
import { type DraftActionResult, type Draft, findDrafts, isRefused } from '../drafts/index.ts';
import { approve, skip } from './approve-draft.ts';
import {
  type MemberAction,
  type MoveResult,
  type ActionAuthor,
  isDraftId,
  type MoveDeps,
  moveDraft,
} from './move-draft.ts';
import { postpone } from './postpone-draft.ts';
import { listDraftPage } from './list-drafts.ts';
import { createModels, type Models } from '../rules/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import type { Filter } from '../../platform/filter/filter.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';

/** Drafts chosen in Review for one action: the given ids, or all drafts that pass a filter. The action is previewed first. */
export type DraftSelection = { projectId: number; ids: string[] | null; filter: Filter };

/** The maximum number of drafts per call. */
const BULK_MAX = 500;

/** Returns the chosen drafts, and whether there are more than one call takes. */
async function choose(
  tx: Tx,
  { projectId, ids, filter }: DraftSelection,
): Promise<{ drafts: Draft[]; more: boolean }> {
  const selectedIds =
    ids === null ? await idsThatPass(tx, projectId, filter) : [...new Set(ids)].filter(isDraftId);
  const drafts = await findDrafts(tx, projectId, selectedIds.slice(0, BULK_MAX));
  return { drafts, more: selectedIds.length > BULK_MAX };
}

async function idsThatPass(tx: Tx, projectId: number, filter: Filter): Promise<string[]> {
  const all = { projectId, view: 'review', filter, after: null, offset: 0, limit: BULK_MAX + 1 } as const;
  return (await listDraftPage(tx, all)).map(({ id }) => id);
}

export type DraftsPreview = {
  drafts: number;
  more: boolean;
  wouldAct: Draft[];
  refused: { draft: Draft; message: string }[];
  /** For drafts that would be approved: the send check that would still hold each. */
  gates: Map<string, GateResult | null>;
};

/** Previews the result of an action by the same decisions. Changes nothing. */
export async function previewMany(
  { db, sendServices, models }: { db: Database; sendServices: SendServices; models: Models },
  selection: DraftSelection,
  { act, by }: { act: BulkAction; by: ActionAuthor },
): Promise<DraftsPreview> {
  const now = db.clock.now();
  const { drafts, more } = await choose(db, selection);
  const ahead =
    act.kind === 'approve'
      ? await lookAheadNow(db, { drafts, now, sendServices, models })
      : new Map<string, LookAhead>();
  const found: DraftsPreview = { drafts: drafts.length, more, wouldAct: [], refused: [], gates: new Map() };
  for (const draft of drafts) {
    const looked = ahead.get(draft.id);
    const refused = refusalOf(draft, { act, by: { ...by, now }, holds: looked?.matches ?? true });
    if (refused !== null) found.refused.push({ draft, message: refused });
    else {
      found.wouldAct.push(draft);
      if (act.kind === 'approve') found.gates.set(draft.id, looked?.gate ?? null);
    }
  }
  return found;
}

type LookAheadInput = { drafts: Draft[]; now: number; sendServices: SendServices; models: Models };

async function lookAheadNow(
  tx: Tx,
  { drafts, now, sendServices, models }: LookAheadInput,
): Promise<Map<string, LookAhead>> {
  const [first] = drafts;
  if (!first) return new Map();
  const { projectId } = first;
  const model = (await models.of(tx, [await readProjectLock(tx, projectId)])).get(projectId);
  return model ? lookAheadOfAll(tx, drafts, { model, now, sendServices: sendServices }) : new Map();
}

type DecisionInput = { act: BulkAction; by: ActionAuthor & { now: number }; holds: boolean };

const CONDITION_UNMET = "The condition of the draft's rule no longer holds";

function refusalOf(draft: Draft, { act, by, holds }: DecisionInput): string | null {
  const unseen = refusalOfMany(draft, act);
  if (unseen !== null) return unseen;
  const decided = decide(draft, act, by);
  if (isRefused(decided)) return decided.refused.message;
  return act.kind === 'approve' && !holds ? CONDITION_UNMET : null;
}

function decide(draft: Draft, act: BulkAction, by: DecisionInput['by']): DraftActionResult {
  switch (act.kind) {
    case 'approve':
      return approve(draft, by);
    case 'skip':
      return skip(draft, { ...by, reason: act.reason });
    case 'postpone':
      return postpone(draft, { ...by, until: act.until });
    default:
      return act satisfies never;
  }
}

/** Acts on each draft on its own. A draft that cannot be changed is skipped and returned with its reason. */
export async function actOnMany(
  deps: MoveDeps & { db: Database },
  selection: DraftSelection,
  input: { act: BulkAction; by: ActionAuthor },
): Promise<BulkMoveResult & { more: boolean }> {
  const { drafts, more } = await choose(deps.db, selection);
  if (drafts.length === 0 && selection.ids !== null && selection.ids.length > 0) throw noDraftFound();
  return { ...(await moveEach(deps, drafts, input)), more };
}

function noDraftFound(): Fault {
  return new Fault('not_found', { details: [{ message: 'None of these drafts exists', field: 'ids' }] });
}

type BulkMoveResult = { acted: MoveResult[]; refused: { id: string; message: string }[] };

/** The actions that can be applied to many drafts at once. */
export type BulkAction = Extract<MemberAction, { kind: 'approve' | 'skip' | 'postpone' }>;

/** Applies one action to each of these drafts, under the limits for drafts that were not reviewed individually. */
export async function moveEach(
  deps: MoveDeps & { db: Database },
  drafts: Draft[],
  input: { act: BulkAction; by: ActionAuthor },
): Promise<BulkMoveResult> {
  const result: BulkMoveResult = { acted: [], refused: [] };
  const shared = { ...deps, models: deps.models ?? createModels(deps.db.clock) };
  for (const draft of drafts) {
    const acted = refusalOfMany(draft, input.act) ?? (await tryMove(shared, draft, input));
    if (typeof acted === 'string') result.refused.push({ id: draft.id, message: acted });
    else result.acted.push(acted);
  }
  return result;
}

/** Rejects a bulk approval of drafts that a member has to review individually. */
function refusalOfMany({ reason }: Pick<Draft, 'reason'>, { kind }: Pick<BulkAction, 'kind'>): string | null {
  if (kind !== 'approve') return null;
  if (reason === 'replied') return 'The user replied. Read the reply, then approve the draft individually';
  if (reason === 'postponed') return 'The draft was postponed. Approve it individually';
  return null;
}

/** Returns the result, or the reason for the rejection. */
async function tryMove(
  deps: MoveDeps,
  { projectId, id: draftId }: Draft,
  input: { act: BulkAction; by: ActionAuthor },
): Promise<MoveResult | string> {
  try {
    return await moveDraft(deps, { projectId, draftId }, input);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}
