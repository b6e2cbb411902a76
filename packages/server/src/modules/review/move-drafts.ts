import { Fault } from '../../platform/fault.ts';
import type { Draft } from '../drafts/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { createModels } from '../rules/index.ts';
import { type Act, type Acted, type Acting, moveDraft, type MoveDeps } from './move-draft.ts';

export type ManyMoved = { acted: Acted[]; refused: { id: string; message: string }[] };

/** The actions that can be applied to many drafts at once. */
export type ManyAct = Extract<Act, { kind: 'approve' | 'skip' | 'postpone' }>;

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
export function refusalOfMany(
  { reason }: Pick<Draft, 'reason'>,
  { kind }: Pick<ManyAct, 'kind'>,
): string | null {
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
