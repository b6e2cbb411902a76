import {
  type Draft,
  isIncomplete,
  hold,
  type DraftChange,
  applyTransition,
  isRefused,
  automaticSendAt,
} from '../../drafts/index.ts';

/**
 * The effect of a restore on an open draft. The database was restored to one time (`restoredTo`), and the previous server ran until a later
 * one (`stoppedAt`). The emails that it sent in between are not known here.
 *
 * - `unknown`: it was due by then, or was being sent. It is never sent again automatically.
 * - `review`: it was sent by then if a member or a send check allowed it. A member decides.
 * - `unaffected`: it cannot have been sent by then.
 */
export type AfterRestore = 'unknown' | 'review' | 'unaffected';

export type RestoredAt = {
  stoppedAt: number;
  /** When this database was first used after the restore. */
  seenAt: number;
  /** No member approved or released a draft in the lost time. */
  nothingApproved: boolean;
};

/** `isNew`: the run began with something that the previous server cannot have known. */
export function classifyRestored(draft: Draft, restored: RestoredAt, isNew: boolean): AfterRestore {
  const { stoppedAt, seenAt, nothingApproved } = restored;
  if (draft.state === 'sending') return 'unknown';
  // The draft was created after the restore from earlier data. The previous server may have created and sent the same email in the lost
  // time.
  if (draft.createdAt >= seenAt) return isNew ? 'unaffected' : 'review';
  const needed = neededToSend(draft, stoppedAt);
  // Its sending time may have changed, because a member or the engine has moved it since.
  if (draft.updatedAt >= seenAt && needed !== 'time') return 'review';
  if (needed === 'time') return 'unknown';
  return needed === 'send_check' || (needed === 'member' && !nothingApproved) ? 'review' : 'unaffected';
}

/**
 * Returns the least that was needed to send the draft by then: its time alone, a change that opens a send check, or a member. `never`: it
 * could not be sent.
 */
function neededToSend(draft: Draft, by: number): 'time' | 'send_check' | 'member' | 'never' {
  if (draft.reason === 'deferred') return (draft.dueAt ?? by) <= by ? 'time' : 'never';
  if ((automaticSendAt(draft) ?? Infinity) > by) return 'member';
  if (draft.state !== 'held') return 'time';
  // A draft held for its domain is checked again at this time, or as soon as the domain is verified.
  if (draft.dueAt === null || draft.reason === 'domain_not_ready') return 'send_check';
  return draft.dueAt <= by ? 'time' : 'member';
}

export type RestoreContext = { now: number; actor: string; detail: Record<string, unknown> };

/** Returns the transition to that state, or null if the draft stays as it is. */
export function afterRestore(
  draft: Draft,
  classification: AfterRestore,
  context: RestoreContext,
): DraftChange | null {
  const { now, actor, detail } = context;
  switch (classification) {
    case 'unknown': {
      const changed = { state: 'unknown', reason: 'possibly_sent' } as const;
      return applyTransition(draft, changed, {
        action: 'mark_unknown_after_restore',
        actor,
        now,
        reason: changed.reason,
        detail,
      });
    }
    case 'review': {
      // The content is incomplete, and an approval of a draft held for another reason would not detect that. Once the content is complete,
      // the draft is held for review.
      if (isIncomplete(draft)) return null;
      const held = hold({ ...draft, leaseBy: null }, { reason: 'restored', until: null, now, actor, detail });
      return isRefused(held) ? null : held;
    }
    case 'unaffected':
      return null;
    default:
      return classification satisfies never;
  }
}
