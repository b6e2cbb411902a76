import { EXPIRES_AFTER_MS, expiresAfter, expiryOf, isApproved, UNDO_MS } from './timing.ts';
import { type Draft, ENGINE } from './draft.ts';
import { dueAction } from './hold-draft.ts';
import { begun, type Move, type Moved, moved } from './moves.ts';
import { type By, conflict, type Decided, type Refusal, refusal } from './refuse.ts';

type At = { now: number; detail?: Record<string, unknown> };

/** The sender takes it: from here on nobody can take back anything. Its gates were asked in the same transaction. */
export function claim(draft: Draft, { now, detail = {} }: At): Decided {
  const refused = refusal(draft, 'claim', { actor: ENGINE, now });
  if (refused) return refused;
  if (dueAction(draft, now) !== 'leave') return conflict('It is not due yet');
  // What is not approved has no such moment: by that it is known as what it goes on should it be put back.
  const notBefore = isApproved(draft) ? draft.notBefore : null;
  const changed: Partial<Draft> = { state: 'sending', reason: null, notBefore };
  return moved(draft, changed, { action: 'claim', actor: ENGINE, now, detail });
}

export type Result = { result: 'sent' } | { result: 'failed' | 'unknown'; reason: string };

/** What became of it. Nobody knows, where the process died or the connection broke in between: then it is never tried again. */
export function finish(draft: Draft, outcome: Result, { now, detail = {} }: At): Decided {
  const action = ACTIONS[outcome.result];
  const refused = refusal(draft, action, { actor: ENGINE, now });
  if (refused) return refused;
  if (draft.state === 'held' && draft.reason !== 'deferred')
    return conflict('It was never submitted to the relay');
  const reason = outcome.result === 'sent' ? null : outcome.reason;
  const changed: Partial<Draft> = { state: outcome.result, reason };
  return moved(draft, changed, { action, actor: ENGINE, now, reason, detail });
}

const ACTIONS = { sent: 'sent', failed: 'fail', unknown: 'lose' } as const;

/** The recipient's server put it off. It is handed over again as it is, after the gates that time can close were asked again. */
export function retry(draft: Draft, { at, now, detail = {} }: At & { at: number }): Decided {
  const refused = refusal(draft, 'retry', { actor: ENGINE, now });
  if (refused) return refused;
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: 'approved',
    reason: 'deferred',
    // Of one that nobody approved it is its deadline.
    notBefore: draft.notBefore ?? draft.deadlineAt ?? now,
    dueAt: at,
  };
  return moved(draft, changed, { action: 'retry', actor: ENGINE, now, reason: 'deferred', detail });
}

/** Returns a draft that was claimed but never handed to the relay to its state before the claim. All send checks run again. */
export function putBack(draft: Draft, { at, now, detail = {} }: At & { at: number }): Decided {
  const refused = refusal(draft, 'put_back', { actor: ENGINE, now });
  if (refused) return refused;
  const state = draft.notBefore === null ? 'scheduled' : 'approved';
  const dueAt = Math.min(at, expiryOf({ ...draft, state, resumeState: null }) ?? at);
  const changed: Partial<Draft> = { state, resumeState: null, reason: null, dueAt };
  return moved(draft, changed, { action: 'put_back', actor: ENGINE, now, detail });
}

/**
 * Rendering it for sending exceeded its bounds: it is held until a person or a new version of its template changes it. An approval
 * is over, so that it is found among those that wait for a person.
 */
export function withhold(draft: Draft, { now, detail = {} }: At): Decided {
  const refused = refusal(draft, 'withhold', { actor: ENGINE, now });
  if (refused) return refused;
  const reason = 'render_failed';
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: 'scheduled',
    reason,
    notBefore: null,
    dueAt: null,
  };
  return moved(draft, changed, { action: 'withhold', actor: ENGINE, now, reason, detail });
}

/** A bounce, an open, a click or a reply proves what became of one of which nobody knew. */
export function settle(
  draft: Draft,
  proof: Result & { result: 'sent' | 'failed' },
  { now, detail }: At,
): Decided {
  const refused = refusal(draft, 'settle', { actor: ENGINE, now });
  if (refused) return refused;
  const reason = proof.result === 'sent' ? null : proof.reason;
  return moved(
    draft,
    { state: proof.result, reason },
    { action: 'settle', actor: ENGINE, now, reason, detail: detail ?? {} },
  );
}

export type SentAgain = By & {
  /** Of the new draft. */
  id: string;
  /** It was typed that it may arrive twice. */
  confirmed?: boolean;
  expiresAfterMs?: number;
};

/**
 * A new draft of the same text, through all gates, once for each draft. The first of the two moves is the old one's.
 * `moves`: all moves of the old one.
 */
export function sendAgain(draft: Draft, moves: Move[], by: SentAgain): { again: [Moved, Moved] } | Refusal {
  const { actor, now, id, confirmed, expiresAfterMs = EXPIRES_AFTER_MS } = by;
  const refused =
    refusal(draft, 'send_again', by) ?? refusalOfAgain(draft, moves, { now, confirmed: confirmed ?? false });
  if (refused) return refused;
  const old = moved(draft, {}, { action: 'send_again', actor, now, detail: { draft_id: id } });
  const notBefore = now + UNDO_MS;
  const { moves: _moves, createdAt: _createdAt, updatedAt: _updatedAt, endedAt: _endedAt, ...same } = draft;
  const made = begun(
    {
      ...same,
      id,
      state: 'approved',
      resumeState: null,
      reason: null,
      deadlineAt: null,
      notBefore,
      dueAt: notBefore,
      expiresAt: expiresAfter(notBefore, { ms: expiresAfterMs, endsAt: draft.endsAt }),
      leaseBy: null,
      resendOf: draft.id,
    },
    { action: 'again', actor, now, detail: { resend_of: draft.id } },
  );
  return { again: [old, made] };
}

function refusalOfAgain(
  draft: Draft,
  moves: Move[],
  { now, confirmed }: { now: number; confirmed: boolean },
): Refusal | null {
  const before = moves.find((move) => move.action === 'send_again');
  if (before) return conflict(`It was already sent again, as ${String(before.detail.draft_id)}`);
  if (draft.endsAt !== null && draft.endsAt <= now + UNDO_MS) return conflict('Its expiry time has passed');
  if (draft.state === 'unknown' && !confirmed) {
    return conflict(
      'It may have arrived, and the user would get it twice. Confirm that you want to send it again',
    );
  }
  return null;
}
