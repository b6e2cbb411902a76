import { type Actor, type Draft, DRAFT_STATES, type DraftState } from './draft.ts';

/**
 * The transitions of drafts: for each action, the states that it leads from and to. This table alone decides states, and SQL repeats the
 * states as a CHECK. `start` is the state of a draft that does not exist yet. If a row has several target states, the first is the usual
 * one. The file of the action says when it is another.
 *
 * Edits, postponements, new facts and new modes are transitions too, although most of them keep the state. Every change of a draft is a
 * transition, and every transition is stored as a row.
 */
export const MOVES = {
  schedule: { start: ['scheduled'] },
  create_resend: { start: ['approved'] },
  hold: {
    start: ['held'],
    scheduled: ['held'],
    approved: ['held'],
    held: ['held'],
  },
  release: { held: ['scheduled', 'approved', 'held'] },
  /** A held draft can be approved too. The send checks run again, and hold it as an approved draft. */
  approve: { scheduled: ['approved'], held: ['approved'] },
  edit: { scheduled: ['scheduled'], approved: ['scheduled'], held: ['held', 'scheduled'] },
  /** A draft without a deadline is held until the chosen time. */
  postpone: { scheduled: ['scheduled', 'held'], approved: ['scheduled', 'held'], held: ['held'] },
  skip: { scheduled: ['skipped'], approved: ['skipped'], held: ['skipped'] },
  /** Undoing an approval from an open editor, or a postponement, restores the approval before it. */
  undo: {
    scheduled: ['scheduled', 'held', 'approved'],
    approved: ['scheduled', 'held', 'approved'],
    held: ['held', 'scheduled', 'approved'],
    skipped: ['scheduled', 'approved', 'held'],
  },
  open_editor: { scheduled: ['held'], approved: ['held'], held: ['held'] },
  close_editor: { held: ['scheduled', 'approved', 'held'] },
  /** An untouched draft gets the new content. An edited draft keeps its text, and only the facts are stored. */
  refresh_content: { scheduled: ['scheduled', 'held'], held: ['held', 'scheduled'] },
  /** A model replaced the text of an untouched draft. */
  ai_rewrite: { scheduled: ['scheduled'] },
  /** The draft was claimed, but rendering it exceeded its limits, so it was not submitted. */
  hold_while_sending: { sending: ['held'] },
  /** The approval covered content that has changed. */
  void_approval: { approved: ['scheduled', 'held'], held: ['held'] },
  change_mode: {
    scheduled: ['scheduled'],
    approved: ['approved'],
    held: ['held'],
  },
  resume: {
    scheduled: ['scheduled'],
    approved: ['approved'],
    held: ['scheduled', 'approved', 'held'],
  },
  cancel: {
    scheduled: ['canceled'],
    approved: ['canceled'],
    held: ['canceled'],
  },
  claim: { scheduled: ['sending'], approved: ['sending'], held: ['sending'] },
  sent: { sending: ['sent'] },
  /** From `held`: the recipient's server deferred the email until it expired. */
  fail: { sending: ['failed'], held: ['failed'] },
  mark_unknown: { sending: ['unknown'] },
  /** The database was restored to a time before the email may have been sent. */
  mark_unknown_after_restore: {
    scheduled: ['unknown'],
    approved: ['unknown'],
    held: ['unknown'],
    sending: ['unknown'],
  },
  /** The recipient's server deferred the email. Its content stays as it was submitted. */
  retry: { sending: ['held'] },
  /** The draft was claimed but never handed to the relay. It returns to its state before the claim. */
  return: { sending: ['scheduled', 'approved'] },
  /** A later outcome shows whether the email was delivered. */
  resolve: { unknown: ['sent', 'failed'] },
  /** The relay of an email with an unknown delivery is asked what became of it, by the same request with the same idempotency key. */
  ask_again: { unknown: ['unknown'] },
  /** The relay is not asked, or not again. The reason says why. */
  keep_unknown: { unknown: ['unknown'] },
  /** The new draft starts with `create_resend`. */
  send_again: { failed: ['failed'], unknown: ['unknown'] },
} as const satisfies Record<string, Partial<Record<DraftState | 'start', readonly DraftState[]>>>;

export type Action = keyof typeof MOVES;

export type DraftTransition = {
  projectId: number;
  draftId: string;
  number: number;
  /** In milliseconds. */
  at: number;
  action: Action;
  from: DraftState | null;
  to: DraftState;
  actor: Actor;
  reason: string | null;
  contentHash: string;
  detail: Record<string, unknown>;
};

/** A draft after a transition, with the transition. Both are written together. */
export type DraftChange = { draft: Draft; move: DraftTransition };

export function can(from: DraftState | null, action: Action): boolean {
  return targets(from, action).length > 0;
}

function targets(from: DraftState | null, action: Action): readonly DraftState[] {
  const row: Partial<Record<DraftState | 'start', readonly DraftState[]>> = MOVES[action];
  return row[from ?? 'start'] ?? [];
}

export const ENDED: ReadonlySet<DraftState> = new Set(['sent', 'skipped', 'canceled', 'failed', 'unknown']);

/** The states of drafts that can still change. */
export const OPEN_STATES = DRAFT_STATES.filter((state) => !ENDED.has(state));

export type TransitionInput = {
  action: Action;
  actor: Actor;
  now: number;
  reason?: string | null;
  detail?: Record<string, unknown>;
};

/** Changes a draft and records the transition. Throws if the table has no such transition. */
export function applyTransition(from: Draft, changed: Partial<Draft>, input: TransitionInput): DraftChange {
  return record(from.state, { ...from, ...changed, moves: from.moves + 1 }, input);
}

/** Creates a draft with its first transition. */
export function beginDraft(
  draft: Omit<Draft, 'moves' | 'createdAt' | 'updatedAt' | 'endedAt'>,
  input: TransitionInput,
): DraftChange {
  return record(
    null,
    { ...draft, moves: 1, createdAt: input.now, updatedAt: input.now, endedAt: null },
    input,
  );
}

function record(from: DraftState | null, next: Draft, input: TransitionInput): DraftChange {
  const { action, actor, now } = input;
  if (!targets(from, action).includes(next.state)) {
    throw new Error(`action ${action} cannot move a draft from ${from ?? 'nothing'} to ${next.state}`);
  }
  const draft: Draft = {
    ...next,
    resumeState: next.state === 'held' ? next.resumeState : null,
    leaseBy: next.state === 'held' ? next.leaseBy : null,
    dueAt: ENDED.has(next.state) || next.state === 'sending' ? null : next.dueAt,
    updatedAt: now,
    endedAt: ENDED.has(next.state) ? (next.endedAt ?? now) : null,
  };
  const move: DraftTransition = {
    projectId: draft.projectId,
    draftId: draft.id,
    number: draft.moves,
    at: now,
    action,
    from,
    to: draft.state,
    actor,
    reason: input.reason ?? null,
    contentHash: draft.contentHash,
    detail: input.detail ?? {},
  };
  return { draft, move };
}
