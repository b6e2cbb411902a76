import { type Draft, ENGINE, EXPIRES_AFTER_MS, expiresAfter, UNDO_MS } from './draft.ts';
import { beginDraft, type DraftTransition, type DraftChange, applyTransition } from './transitions.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';
import { type By, conflict, type DraftActionResult, type ActionRefusal, refusal } from './refusals.ts';

type SendStepInput = { now: number; detail?: Record<string, unknown> };

/** Resolves an unknown delivery: a bounce, an open, a click or a reply proves the result. */
export function resolveDraft(
  draft: Draft,
  proof: Extract<SendResult, { result: 'sent' | 'failed' }>,
  { now, detail }: SendStepInput,
): DraftActionResult {
  const refused = refusal(draft, 'resolve', { actor: ENGINE, now });
  if (refused) return refused;
  const reason = proof.result === 'sent' ? null : proof.reason;
  return applyTransition(
    draft,
    { state: proof.result, reason },
    { action: 'resolve', actor: ENGINE, now, reason, detail: detail ?? {} },
  );
}

/** Notes that the relay is asked again about an email with an unknown delivery. */
export function askAgain(draft: Draft, { now, detail }: SendStepInput): DraftActionResult {
  const refused = refusal(draft, 'ask_again', { actor: ENGINE, now });
  if (refused) return refused;
  return applyTransition(draft, {}, { action: 'ask_again', actor: ENGINE, now, detail: detail ?? {} });
}

/** Notes why the relay is not asked again, so that the delivery stays unknown unless an outcome resolves it. */
export function keepUnknown(
  draft: Draft,
  { reason, now, detail }: SendStepInput & { reason: string },
): DraftActionResult {
  const refused = refusal(draft, 'keep_unknown', { actor: ENGINE, now });
  if (refused) return refused;
  const why = { reason, detail: detail ?? {} };
  return applyTransition(draft, {}, { action: 'keep_unknown', actor: ENGINE, now, ...why });
}

export type SendAgainInput = By & {
  /** The id of the new draft. */
  id: string;
  /** The member confirmed that the email may arrive twice. */
  confirmed?: boolean;
  expiresAfterMs?: number;
};

/**
 * Creates a new draft with the same text, once for each draft. All send checks apply to it. The first of the two transitions is
 * that of the old draft. `moves`: all transitions of the old draft.
 */
export function sendAgain(
  draft: Draft,
  moves: DraftTransition[],
  by: SendAgainInput,
): { again: [DraftChange, DraftChange] } | ActionRefusal {
  const { actor, now, id, confirmed, expiresAfterMs = EXPIRES_AFTER_MS } = by;
  const refused =
    refusal(draft, 'send_again', by) ?? refusalOfAgain(draft, moves, { now, confirmed: confirmed ?? false });
  if (refused) return refused;
  const old = applyTransition(draft, {}, { action: 'send_again', actor, now, detail: { draft_id: id } });
  const notBefore = now + UNDO_MS;
  const { moves: _moves, createdAt: _createdAt, updatedAt: _updatedAt, endedAt: _endedAt, ...same } = draft;
  const made = beginDraft(
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
    { action: 'create_resend', actor, now, detail: { resend_of: draft.id } },
  );
  return { again: [old, made] };
}

function refusalOfAgain(
  draft: Draft,
  moves: DraftTransition[],
  { now, confirmed }: { now: number; confirmed: boolean },
): ActionRefusal | null {
  const before = moves.find((move) => move.action === 'send_again');
  if (before)
    return conflict(`The email was already sent again, as the draft ${String(before.detail.draft_id)}`);
  if (draft.endsAt !== null && draft.endsAt <= now + UNDO_MS)
    return conflict('The draft has expired, so the email cannot be sent again');
  if (draft.state === 'unknown' && !confirmed) {
    return conflict(
      'The email may have arrived, and the user would get it twice. Confirm that you want to send it again',
    );
  }
  return null;
}
