import { type Actor, type Content, type Draft, ENGINE, isNotWhole } from './draft.ts';
import { moved } from './moves.ts';
import { factsWithout, gapReason, hashContent } from './new-draft.ts';
import { conflict, type Decided, isLeased, refusal, STILL_DRAFTED } from './refuse.ts';
import { boundedDeadline, dueOfScheduled, isApproved, withGrace } from './timing.ts';

export type Followed = {
  /** The letter as it is now, with the facts as they are now. */
  content: Content;
  facts: Draft['facts'];
  /** A variable of which nothing is known. */
  missing: string | null;
  /** It is the part that takes more work than an email may. */
  isFailed?: boolean;
  /** The same letter may have left in time that a restore took away: its gap is filled, and a person looks at it. */
  mayHaveLeft?: boolean;
  /** A new letter was published and its open drafts follow: then there is time left to look at them. */
  why: 'facts_changed' | 'template_changed';
  now: number;
  actor?: Actor;
};

/**
 * What a draft says has changed. An untouched one says the new thing. Of an edited one the text stays, marked so that a
 * person can see it. An approval was of what it said before: it is void, and where the draft would leave by itself it gets a
 * whole new period.
 */
export function follow(draft: Draft, followed: Followed): Decided {
  const action = isApproved(draft) ? 'void_approval' : 'refresh_content';
  const { now, why, actor = ENGINE } = followed;
  const refused = refusal(draft, action, { actor: ENGINE, now });
  if (refused) return refused;
  if (draft.reason === 'deferred')
    return conflict('The email was already submitted to the relay, so its content is fixed');
  if (draft.resumeState === 'composing') return conflict(STILL_DRAFTED);
  const text = textOf(draft, followed);
  const deadlineAt = deadlineOf(draft, followed);
  const place = placeOf({ ...draft, ...text, deadlineAt }, followed);
  return moved(
    draft,
    { ...text, deadlineAt, ...place },
    {
      action,
      actor,
      now,
      reason: why,
      detail: followed.missing === null ? {} : { variable: followed.missing },
    },
  );
}

function textOf(draft: Draft, { content, facts, missing }: Followed): Partial<Draft> {
  const known = { facts: factsWithout(facts, missing) };
  return draft.isEdited ? known : { ...known, content, contentHash: hashContent(content) };
}

function deadlineOf(draft: Draft, { now, why }: Followed): number | null {
  const { autopilotMs, endsAt, deadlineAt } = draft;
  if (isApproved(draft)) {
    return autopilotMs === null ? null : boundedDeadline(now + autopilotMs, { now, endsAt });
  }
  return why === 'template_changed' ? withGrace(draft, now) : deadlineAt;
}

function placeOf(draft: Draft, followed: Followed): Partial<Draft> {
  const { missing, isFailed, mayHaveLeft = false, why, now } = followed;
  const gap = missing !== null && !draft.isEdited ? gapReason(isFailed) : null;
  if (draft.state === 'held' && !(isNotWhole(draft) && gap === null)) return heldOn(draft, gap, now);
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

/** Whatever holds it goes on to hold it, and is asked again later; but a hole in the letter is for a person to fill. */
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
