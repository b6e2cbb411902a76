import {
  type Actor,
  boundedDeadline,
  type DraftContent,
  type Draft,
  dueOfScheduled,
  ENGINE,
  isApproved,
  isIncomplete,
  withGrace,
} from './draft.ts';
import { applyTransition } from './transitions.ts';
import { factsWithout, gapReason, hashContent } from './new-draft.ts';
import { conflict, type DraftActionResult, isLeased, refusal } from './refusals.ts';

export type NewDraftFacts = {
  /** The email as it is now, with the current facts. */
  content: DraftContent;
  facts: Draft['facts'];
  /** A variable without a value. */
  missing: string | null;
  /** The missing part is one that exceeded the rendering limit. */
  isFailed?: boolean;
  /** The same email may have been sent in the time lost to a restore. Once complete, the draft is held for review. */
  mayHaveLeft?: boolean;
  /** For `template_changed`, open drafts follow a newly published version, and members get time to review them. */
  why: 'facts_changed' | 'template_changed';
  now: number;
  actor?: Actor;
};

/**
 * Applies changed facts or a new template version to a draft. An untouched draft gets the new content. An edited draft keeps its text and
 * is marked for review. An approval covered the old content, so it is withdrawn, and a draft on autopilot gets its full period again.
 */
export function follow(draft: Draft, update: NewDraftFacts): DraftActionResult {
  const action = isApproved(draft) ? 'void_approval' : 'refresh_content';
  const { now, why, actor = ENGINE } = update;
  const refused = refusal(draft, action, { actor: ENGINE, now });
  if (refused) return refused;
  if (draft.reason === 'deferred')
    return conflict('The email was already submitted to the relay, so its content is fixed');
  const text = textOf(draft, update);
  const deadlineAt = deadlineOf(draft, update);
  const state = stateAfterUpdate({ ...draft, ...text, deadlineAt }, update);
  return applyTransition(
    draft,
    { ...text, deadlineAt, ...state },
    {
      action,
      actor,
      now,
      reason: why,
      detail: update.missing === null ? {} : { variable: update.missing },
    },
  );
}

function textOf(draft: Draft, { content, facts, missing }: NewDraftFacts): Partial<Draft> {
  const newFacts = { facts: factsWithout(facts, missing) };
  return draft.isEdited ? newFacts : { ...newFacts, content, contentHash: hashContent(content) };
}

function deadlineOf(draft: Draft, { now, why }: NewDraftFacts): number | null {
  const { autopilotMs, endsAt, deadlineAt } = draft;
  if (isApproved(draft)) {
    return autopilotMs === null ? null : boundedDeadline(now + autopilotMs, { now, endsAt });
  }
  return why === 'template_changed' ? withGrace(draft, now) : deadlineAt;
}

function stateAfterUpdate(draft: Draft, update: NewDraftFacts): Partial<Draft> {
  const { missing, isFailed, mayHaveLeft = false, why, now } = update;
  const gap = missing !== null && !draft.isEdited ? gapReason(isFailed) : null;
  if (draft.state === 'held' && !(isIncomplete(draft) && gap === null)) return heldOn(draft, gap, now);
  if (gap !== null) return heldFor(gap, draft, now);
  if (mayHaveLeft) return heldFor('restored', draft, now);
  if (isLeased(draft, now)) return { reason: 'editing' };
  const isMarked = draft.isEdited || isApproved(draft);
  return {
    state: 'scheduled',
    reason: isMarked ? why : null,
    notBefore: null,
    dueAt: dueOfScheduled(draft),
  };
}

/** Keeps an existing hold, which is checked again later. If content is missing, the draft is held for that instead. */
function heldOn(draft: Draft, gap: Gap | null, now: number): Partial<Draft> {
  if (gap === null || draft.reason === 'no_address') {
    return { resumeState: 'scheduled', notBefore: draft.reason === 'postponed' ? draft.notBefore : null };
  }
  return heldFor(gap, draft, now);
}

type Gap = ReturnType<typeof gapReason>;

function heldFor(reason: Gap | 'restored', draft: Draft, now: number): Partial<Draft> {
  const dueAt = isLeased(draft, now) ? draft.dueAt : null;
  return { state: 'held', resumeState: 'scheduled', reason, notBefore: null, dueAt };
}
