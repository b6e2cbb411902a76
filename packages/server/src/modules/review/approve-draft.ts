import {
  type Draft,
  type DraftTransition,
  applyTransition,
  type By,
  conflict,
  type DraftActionResult,
  type ActionRefusal,
  refusal,
  refusalOfExpired,
  dueOfScheduled,
  UNDO_MS,
  withGrace,
} from '../drafts/index.ts';

/**
 * Approves a draft with the content that the member saw. It is sent once the send checks pass, but not before the undo period ends.
 * `anyway` approves it although its rule no longer holds. It bypasses no send check, and it is recorded in the move.
 */
export function approve(draft: Draft, by: By & { anyway?: boolean }): DraftActionResult {
  const refused =
    refusal(draft, 'approve', by) ?? refusalOfExpired(draft, by.now + UNDO_MS) ?? refusalOfHeld(draft, by);
  if (refused) return refused;
  const notBefore = by.now + UNDO_MS;
  const changed: Partial<Draft> = { state: 'approved', reason: null, notBefore, dueAt: notBefore };
  const detail = { before: stateBefore(draft), ...(by.anyway ? { send_anyway: true } : {}) };
  return applyTransition(draft, changed, { action: 'approve', actor: by.actor, now: by.now, detail });
}

function refusalOfHeld(draft: Draft, by: { anyway?: boolean }): ActionRefusal | null {
  if (draft.reason === 'missing_variable') {
    return conflict(
      `${missingOf(draft)} is unknown, and the email uses it. Edit the draft, or wait until the value is known`,
    );
  }
  if (draft.reason === 'render_failed' && !isComplete(draft)) {
    return conflict(
      'Rendering the email exceeded the rendering limit, so its content is incomplete. Edit the draft, or publish a simpler template',
    );
  }
  if (draft.reason === 'needs_review' && !by.anyway) {
    return conflict(
      "The condition of the draft's rule no longer holds. Skip the draft, or confirm that it should be sent anyway",
    );
  }
  return null;
}

/**
 * Returns whether the content is complete. A part that exceeded the rendering limit when the draft was created is noted among its facts.
 * For a later failure the content is complete.
 */
function isComplete({ facts }: Draft): boolean {
  return !['subject', 'preheader', 'body'].some((part) => Object.hasOwn(facts, part));
}

function missingOf({ facts }: Draft): string {
  return Object.keys(facts)
    .filter((name) => facts[name] === null)
    .join(', ');
}

/** Skips an email for this user. The next steps of the run continue once the skip is final. */
export function skip(draft: Draft, by: By & { reason: string | null }): DraftActionResult {
  const refused = refusal(draft, 'skip', by);
  if (refused) return refused;
  const { actor, now, reason } = by;
  const changed: Partial<Draft> = { state: 'skipped', reason, notBefore: now + UNDO_MS };
  return applyTransition(draft, changed, {
    action: 'skip',
    actor,
    now,
    reason,
    detail: { before: stateBefore(draft) },
  });
}

/** The state of a draft before it was approved, skipped or postponed, stored with that move. */
type StateBefore = {
  state: Draft['state'];
  resume_state: Draft['resumeState'];
  reason: string | null;
  deadline_at: number | null;
  not_before: number | null;
  due_at: number | null;
  expires_at: number | null;
};

export function stateBefore(draft: Draft): StateBefore {
  return {
    state: draft.state,
    resume_state: draft.resumeState,
    reason: draft.reason,
    deadline_at: draft.deadlineAt,
    not_before: draft.notBefore,
    due_at: draft.dueAt,
    expires_at: draft.expiresAt,
  };
}

const UNDONE: ReadonlySet<string> = new Set(['approve', 'skip', 'postpone']);

/** Moves by the engine, which do not prevent a member from undoing an earlier action. */
const BY_THE_ENGINE: ReadonlySet<string> = new Set([
  'hold',
  'release',
  'resume',
  'change_mode',
  'claim',
  'return',
]);

/**
 * Undoes an approval until the draft is claimed, or a skip or postponement within ten seconds. `moves` are all moves of the draft, in
 * order.
 */
export function undo(draft: Draft, moves: DraftTransition[], by: By): DraftActionResult {
  const refused = refusal(draft, 'undo', by);
  if (refused) return refused;
  const last = moves.findLast((move) => !BY_THE_ENGINE.has(move.action));
  if (!last || !UNDONE.has(last.action)) {
    return conflict(
      'The draft has nothing to undo, because its last action was not an approval, a skip or a postponement',
    );
  }
  if (draft.state === 'skipped' && by.now >= (draft.notBefore ?? 0)) {
    return conflict('The skip of the draft is final. A skip can be undone for 10 seconds only');
  }
  if (last.action === 'postpone' && by.now >= last.at + UNDO_MS) {
    return conflict(
      'The postponement of the draft is final. A postponement can be undone for 10 seconds only',
    );
  }
  const before = last.detail.before as StateBefore;
  const changed = {
    ...(isHeldSince(draft, before) ? restoredWhileHeld(before) : restoredState(before)),
    deadlineAt: deadlineBefore(draft, before, by.now),
    notBefore: before.not_before,
    expiresAt: last.action === 'postpone' ? before.expires_at : draft.expiresAt,
  };
  return applyTransition(
    draft,
    { ...changed, dueAt: dueAfterUndo({ ...draft, ...changed }, by.now) },
    {
      action: 'undo',
      actor: by.actor,
      now: by.now,
      detail: { of: last.number },
    },
  );
}

/** The undo period of an approved draft has passed. A held draft is checked again at the time at which it would have been. */
function dueAfterUndo(draft: Draft, now: number): number | null {
  if (draft.state === 'scheduled') return dueOfScheduled(draft);
  return draft.state === 'approved' ? Math.max(draft.notBefore ?? now, now) : draft.dueAt;
}

/**
 * Returns whether a send check has held the draft since its approval and continues to hold it. An editor that was open then no longer holds
 * the draft.
 */
function isHeldSince(draft: Draft, before: StateBefore): boolean {
  // The postponement itself is what the member undoes.
  if (draft.reason === 'postponed') return false;
  return draft.state === 'held' && (before.state !== 'held' || before.reason === 'editing');
}

function restoredWhileHeld(before: StateBefore): Partial<Draft> {
  const state = before.state === 'held' ? before.resume_state : before.state;
  return { resumeState: state === 'approved' ? 'approved' : 'scheduled' };
}

/**
 * Returns the deadline after an undo. A member who undoes an action wants to review the draft again, so it is not sent at that very moment.
 * A draft whose rule is now draft-only gets no deadline.
 */
function deadlineBefore(draft: Draft, { deadline_at: deadlineAt }: StateBefore, now: number): number | null {
  if (draft.autopilotMs === null) return null;
  const isNear = deadlineAt !== null && deadlineAt <= now + UNDO_MS;
  return isNear ? withGrace({ ...draft, deadlineAt }, now) : deadlineAt;
}

function restoredState(before: StateBefore): Partial<Draft> {
  // The editor that was open then is closed now.
  const isEditing = before.state === 'held' && before.reason === 'editing';
  return isEditing
    ? { state: before.resume_state ?? 'scheduled', resumeState: null, reason: null }
    : { state: before.state, resumeState: before.resume_state, reason: before.reason, dueAt: before.due_at };
}
