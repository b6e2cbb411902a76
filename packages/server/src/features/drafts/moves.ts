import { DRAFT_STATES, type Actor, type Draft, type DraftState } from './draft.ts';

/**
 * The one table of moves. From where an action leads where; nothing else decides states, and SQL repeats the states as a
 * CHECK. `start` is where a draft that does not exist yet comes from. Where a row names several states, the first is the usual
 * one, and the action's own file says when it is another.
 *
 * Editing, postponing, new facts and new modes are moves like the others, though they mostly
 * keep the state: whatever changes a draft is a move, and every move is a row.
 */
export const MOVES = {
  compose: { start: ['composing'] },
  schedule: { start: ['scheduled'], composing: ['scheduled'] },
  create_resend: { start: ['approved'] },
  hold: {
    start: ['held'],
    composing: ['held'],
    scheduled: ['held'],
    approved: ['held'],
    held: ['held'],
  },
  release: { held: ['scheduled', 'approved', 'composing', 'held'] },
  /** From `held` too: the gates are asked again, and hold it as an approved one. */
  approve: { scheduled: ['approved'], held: ['approved'] },
  edit: { scheduled: ['scheduled'], approved: ['scheduled'], held: ['held', 'scheduled'] },
  /** Without a deadline there is none to postpone: it is held out of sight until then. */
  postpone: { scheduled: ['scheduled', 'held'], approved: ['scheduled', 'held'], held: ['held'] },
  skip: { composing: ['skipped'], scheduled: ['skipped'], approved: ['skipped'], held: ['skipped'] },
  /** An approval out of an open editor goes back to the approval before it, and so does one that postponing had voided. */
  undo: {
    scheduled: ['scheduled', 'held', 'approved'],
    approved: ['scheduled', 'held', 'approved'],
    held: ['held', 'scheduled', 'approved'],
    skipped: ['scheduled', 'approved', 'held', 'composing'],
  },
  open_editor: { scheduled: ['held'], approved: ['held'], held: ['held'] },
  close_editor: { held: ['scheduled', 'approved', 'held'] },
  /** An untouched one follows its letter and its facts; of one that is edited only the facts are noted. */
  refresh_content: { scheduled: ['scheduled', 'held'], held: ['held', 'scheduled'] },
  /** A model has put what an untouched one says into better words. */
  ai_rewrite: { scheduled: ['scheduled'] },
  /** Rendering it for sending exceeded its bounds, so it was claimed and not handed over. */
  hold_while_sending: { sending: ['held'] },
  /** What it says was approved, and holds no more. */
  void_approval: { approved: ['scheduled', 'held'], held: ['held'] },
  change_mode: {
    composing: ['composing'],
    scheduled: ['scheduled'],
    approved: ['approved'],
    held: ['held'],
  },
  resume: {
    scheduled: ['scheduled'],
    approved: ['approved'],
    held: ['scheduled', 'approved', 'composing', 'held'],
  },
  cancel: {
    composing: ['canceled'],
    scheduled: ['canceled'],
    approved: ['canceled'],
    held: ['canceled'],
  },
  claim: { scheduled: ['sending'], approved: ['sending'], held: ['sending'] },
  sent: { sending: ['sent'] },
  /** From `held`: it was put off by the recipient's server until nobody waits for it any more. */
  fail: { sending: ['failed'], held: ['failed'] },
  mark_unknown: { sending: ['unknown'] },
  /** The database was put back to a time before this one may have left. */
  mark_unknown_after_restore: {
    composing: ['unknown'],
    scheduled: ['unknown'],
    approved: ['unknown'],
    held: ['unknown'],
    sending: ['unknown'],
  },
  /** The recipient's server put it off. Its content stays as it was handed over. */
  retry: { sending: ['held'] },
  /** The draft was claimed but never handed to the relay. It returns to its state before the claim. */
  return: { sending: ['scheduled', 'approved'] },
  /** A later proof says what became of it. */
  resolve: { unknown: ['sent', 'failed'] },
  /** The one that it is sent again as begins with `create_resend`. */
  send_again: { failed: ['failed'], unknown: ['unknown'] },
} as const satisfies Record<string, Partial<Record<DraftState | 'start', readonly DraftState[]>>>;

export type Action = keyof typeof MOVES;

export type Move = {
  projectId: number;
  draftId: string;
  number: number;
  /** Milliseconds. */
  at: number;
  action: Action;
  from: DraftState | null;
  to: DraftState;
  actor: Actor;
  reason: string | null;
  contentHash: string;
  detail: Record<string, unknown>;
};

/** A draft as a move leaves it, with the move: the one is not written without the other. */
export type Moved = { draft: Draft; move: Move };

export function can(from: DraftState | null, action: Action): boolean {
  return targets(from, action).length > 0;
}

function targets(from: DraftState | null, action: Action): readonly DraftState[] {
  const row: Partial<Record<DraftState | 'start', readonly DraftState[]>> = MOVES[action];
  return row[from ?? 'start'] ?? [];
}

export const ENDED: ReadonlySet<DraftState> = new Set(['sent', 'skipped', 'canceled', 'failed', 'unknown']);

/** Those that have not come to their end: somebody or something still moves them. */
export const OPEN_STATES = DRAFT_STATES.filter((state) => !ENDED.has(state));

export type How = {
  action: Action;
  actor: Actor;
  now: number;
  reason?: string | null;
  detail?: Record<string, unknown>;
};

/** A change to a draft, counted and recorded. A state that the table does not lead to is a defect of ours. */
export function moved(from: Draft, changed: Partial<Draft>, how: How): Moved {
  return record(from.state, { ...from, ...changed, moves: from.moves + 1 }, how);
}

/** The first move of a draft that is made. */
export function begun(draft: Omit<Draft, 'moves' | 'createdAt' | 'updatedAt' | 'endedAt'>, how: How): Moved {
  return record(null, { ...draft, moves: 1, createdAt: how.now, updatedAt: how.now, endedAt: null }, how);
}

function record(from: DraftState | null, next: Draft, how: How): Moved {
  const { action, actor, now } = how;
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
  const move: Move = {
    projectId: draft.projectId,
    draftId: draft.id,
    number: draft.moves,
    at: now,
    action,
    from,
    to: draft.state,
    actor,
    reason: how.reason ?? null,
    contentHash: draft.contentHash,
    detail: how.detail ?? {},
  };
  return { draft, move };
}
