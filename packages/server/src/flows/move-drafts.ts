import { Fault } from '../base/fault.ts';
import { type Draft, listDrafts } from '../features/drafts/index.ts';
import type { Database } from '../io/db/index.ts';
import { createModels } from './models.ts';
import { type Act, type Acting, moveDraft, type MoveDeps } from './move-draft.ts';

export type ManyRef = { projectId: number; ruleId: string };
export type ManyActed = { acted: string[]; refused: { id: string; message: string }[] };

type ManyAct = Extract<Act, { kind: 'approve' | 'skip' }>;

const PAGE = 200;
const STATES = ['scheduled', 'held'] as const;

/**
 * One act on every draft of a rule that waits for its deadline or for a person, each by itself: one that somebody else has
 * just moved is passed over, and told with its reason.
 */
export async function moveDrafts(
  deps: MoveDeps & { db: Database },
  { projectId, ruleId }: ManyRef,
  { act, by }: { act: ManyAct; by: Acting },
): Promise<ManyActed> {
  const done: ManyActed = { acted: [], refused: [] };
  const shared = { ...deps, models: deps.models ?? createModels(deps.db.clock) };
  for (const state of STATES) {
    for (let after: string | null = null; ;) {
      const page: Draft[] = await listDrafts(deps.db, {
        projectId,
        state,
        ruleId,
        userId: null,
        after,
        limit: PAGE,
      });
      for (const draft of page.filter(isUndecided)) {
        const refused = refusalOf(draft, act) ?? (await tried(shared, draft, { act, by }));
        if (refused === null) done.acted.push(draft.id);
        else done.refused.push({ id: draft.id, message: refused });
      }
      after = page.at(-1)?.id ?? null;
      if (page.length < PAGE) break;
    }
  }
  return done;
}

/** One that is approved and that only a gate holds has been decided about, and nobody means it here. */
function isUndecided({ resumeState, reason }: Draft): boolean {
  return resumeState !== 'approved' || WAITS_FOR_A_PERSON.has(reason);
}

const WAITS_FOR_A_PERSON: ReadonlySet<string | null> = new Set(['replied', 'needs_review']);

/** Whoever approves many has seen none of these: somebody must have looked at each. */
function refusalOf({ reason }: Draft, { kind }: ManyAct): string | null {
  if (kind !== 'approve') return null;
  if (reason === 'replied') return 'The person has answered: look at it, and approve it by itself';
  if (reason === 'snoozed') return 'It was put off until later: approve it by itself';
  return null;
}

async function tried(
  deps: MoveDeps,
  { projectId, id: draftId }: Draft,
  doing: { act: ManyAct; by: Acting },
): Promise<string | null> {
  try {
    await moveDraft(deps, { projectId, draftId }, doing);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}
