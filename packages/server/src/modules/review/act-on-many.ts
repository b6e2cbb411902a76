import { type LookAhead, lookAheadOfAll, type Mailroom } from '../delivery/index.ts';
import { type DraftActionResult, type Draft, findDrafts, isRefused } from '../drafts/index.ts';
import { approve, skip } from './approve-draft.ts';
import {
  type MemberAction,
  type Acted,
  type Acting,
  isDraftId,
  type MoveDeps,
  moveDraft,
} from './move-draft.ts';
import { postpone } from './postpone-draft.ts';
import { listDraftPage } from './list-drafts.ts';
import { createModels, type Models } from '../rules/index.ts';
import type { GateAnswer } from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import type { Filter } from '../../platform/filter/filter.ts';
import { readTurn } from '../../platform/locks/project-lock.ts';

/** Drafts chosen in Review for one action: the given ids, or all drafts that pass a filter. The action is previewed first. */
export type Chosen = { projectId: number; ids: string[] | null; filter: Filter };

/** The maximum number of drafts per call. */
const BULK_MAX = 500;

/** Returns the chosen drafts, and whether there are more than one call takes. */
async function choose(
  tx: Tx,
  { projectId, ids, filter }: Chosen,
): Promise<{ drafts: Draft[]; more: boolean }> {
  const wanted =
    ids === null ? await idsThatPass(tx, projectId, filter) : [...new Set(ids)].filter(isDraftId);
  const drafts = await findDrafts(tx, projectId, wanted.slice(0, BULK_MAX));
  return { drafts, more: wanted.length > BULK_MAX };
}

async function idsThatPass(tx: Tx, projectId: number, filter: Filter): Promise<string[]> {
  const all = { projectId, view: 'review', filter, after: null, offset: 0, limit: BULK_MAX + 1 } as const;
  return (await listDraftPage(tx, all)).map(({ id }) => id);
}

export type ManyPreviewed = {
  drafts: number;
  more: boolean;
  wouldAct: Draft[];
  refused: { draft: Draft; message: string }[];
  /** For drafts that would be approved: the send check that would still hold each. */
  gates: Map<string, GateAnswer | null>;
};

/** Previews the result of an action by the same decisions. Changes nothing. */
export async function previewMany(
  { db, mailroom, models }: { db: Database; mailroom: Mailroom; models: Models },
  chosen: Chosen,
  { act, by }: { act: ManyAct; by: Acting },
): Promise<ManyPreviewed> {
  const now = db.clock.now();
  const { drafts, more } = await choose(db, chosen);
  const ahead =
    act.kind === 'approve'
      ? await lookAheadNow(db, { drafts, now, mailroom, models })
      : new Map<string, LookAhead>();
  const found: ManyPreviewed = { drafts: drafts.length, more, wouldAct: [], refused: [], gates: new Map() };
  for (const draft of drafts) {
    const looked = ahead.get(draft.id);
    const refused = refusalOf(draft, { act, by: { ...by, now }, holds: looked?.holds ?? true });
    if (refused !== null) found.refused.push({ draft, message: refused });
    else {
      found.wouldAct.push(draft);
      if (act.kind === 'approve') found.gates.set(draft.id, looked?.gate ?? null);
    }
  }
  return found;
}

type Looking = { drafts: Draft[]; now: number; mailroom: Mailroom; models: Models };

async function lookAheadNow(
  tx: Tx,
  { drafts, now, mailroom, models }: Looking,
): Promise<Map<string, LookAhead>> {
  const [first] = drafts;
  if (!first) return new Map();
  const { projectId } = first;
  const model = (await models.of(tx, [await readTurn(tx, projectId)])).get(projectId);
  return model ? lookAheadOfAll(tx, drafts, { model, now, mailroom }) : new Map();
}

type Deciding = { act: ManyAct; by: Acting & { now: number }; holds: boolean };

const HOLDS_NO_MORE = "The condition of the draft's rule no longer holds";

function refusalOf(draft: Draft, { act, by, holds }: Deciding): string | null {
  const unseen = refusalOfMany(draft, act);
  if (unseen !== null) return unseen;
  const decided = decide(draft, act, by);
  if (isRefused(decided)) return decided.refused.message;
  return act.kind === 'approve' && !holds ? HOLDS_NO_MORE : null;
}

function decide(draft: Draft, act: ManyAct, by: Deciding['by']): DraftActionResult {
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
  chosen: Chosen,
  doing: { act: ManyAct; by: Acting },
): Promise<ManyMoved & { more: boolean }> {
  const { drafts, more } = await choose(deps.db, chosen);
  if (drafts.length === 0 && chosen.ids !== null && chosen.ids.length > 0) throw noneOfThese();
  return { ...(await moveEach(deps, drafts, doing)), more };
}

function noneOfThese(): Fault {
  return new Fault('not_found', { details: [{ message: 'None of these drafts exists', field: 'ids' }] });
}

type ManyMoved = { acted: Acted[]; refused: { id: string; message: string }[] };

/** The actions that can be applied to many drafts at once. */
export type ManyAct = Extract<MemberAction, { kind: 'approve' | 'skip' | 'postpone' }>;

/** Applies one action to each of these drafts, under the limits for drafts that were not reviewed individually. */
export async function moveEach(
  deps: MoveDeps & { db: Database },
  drafts: Draft[],
  doing: { act: ManyAct; by: Acting },
): Promise<ManyMoved> {
  const done: ManyMoved = { acted: [], refused: [] };
  const shared = { ...deps, models: deps.models ?? createModels(deps.db.clock) };
  for (const draft of drafts) {
    const acted = refusalOfMany(draft, doing.act) ?? (await tried(shared, draft, doing));
    if (typeof acted === 'string') done.refused.push({ id: draft.id, message: acted });
    else done.acted.push(acted);
  }
  return done;
}

/** Rejects a bulk approval of drafts that a member has to review individually. */
function refusalOfMany({ reason }: Pick<Draft, 'reason'>, { kind }: Pick<ManyAct, 'kind'>): string | null {
  if (kind !== 'approve') return null;
  if (reason === 'replied') return 'The user replied. Read the reply, then approve the draft individually';
  if (reason === 'postponed') return 'The draft was postponed. Approve it individually';
  return null;
}

/** Returns the result, or the reason for the rejection. */
async function tried(
  deps: MoveDeps,
  { projectId, id: draftId }: Draft,
  doing: { act: ManyAct; by: Acting },
): Promise<Acted | string> {
  try {
    return await moveDraft(deps, { projectId, draftId }, doing);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}
