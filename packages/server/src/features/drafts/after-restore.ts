import { type Draft, isNotWhole } from './draft.ts';
import { hold } from './hold-draft.ts';
import { type Moved, moved } from './moves.ts';
import { isRefused } from './refuse.ts';
import { leavesAt } from './timing.ts';

/**
 * What a restore means for an open draft. The database was restored to one moment (`restoredTo`), and the previous server ran
 * until a later one (`stoppedAt`). What it sent in between is not known here.
 *
 *   unknown     it was due by then, or was being sent: it is never sent again automatically
 *   review      it was sent by then if a member or a send check allowed it: a member decides
 *   unaffected  it cannot have been sent by then
 */
export type AfterRestore = 'unknown' | 'review' | 'unaffected';

export type RestoredAt = {
  stoppedAt: number;
  /** Since when this database goes on by itself. */
  seenAt: number;
  /** Nobody approved or released anything in the time that is lost. */
  nobodyApproved: boolean;
};

/** `isNew`: its run began with something of which the server before this one cannot have known. */
export function judgeRestored(draft: Draft, restored: RestoredAt, isNew: boolean): AfterRestore {
  const { stoppedAt, seenAt, nobodyApproved } = restored;
  if (draft.state === 'sending' || draft.state === 'composing') return 'unknown';
  // Written since, of what had happened before: the same letter may have been written, and have left, in the time that is lost.
  if (draft.createdAt >= seenAt) return isNew ? 'unaffected' : 'review';
  const leftBy = lettingGo(draft, stoppedAt);
  // When it leaves is not what it was: somebody or something has moved it since.
  if (draft.updatedAt >= seenAt && leftBy !== 'itself') return 'review';
  if (leftBy === 'itself') return 'unknown';
  return leftBy === 'something' || (leftBy === 'somebody' && !nobodyApproved) ? 'review' : 'unaffected';
}

/** Who could have let it go by then, at the least: nobody, a person, a gate that opens when something else changes, or nobody was needed. */
function lettingGo(draft: Draft, by: number): 'itself' | 'something' | 'somebody' | 'nobody' {
  if (draft.reason === 'deferred') return (draft.dueAt ?? by) <= by ? 'itself' : 'nobody';
  if ((leavesAt(draft) ?? Infinity) > by) return 'somebody';
  if (draft.state !== 'held') return 'itself';
  // That of a domain is looked at again at this moment, or as soon as it is found to be verified.
  if (draft.dueAt === null || draft.reason === 'domain_not_ready') return 'something';
  return draft.dueAt <= by ? 'itself' : 'somebody';
}

export type Doubting = { now: number; actor: string; detail: Record<string, unknown> };

/** The move by which it becomes so; null where it goes on as it is. */
export function afterRestore(draft: Draft, judged: AfterRestore, doubting: Doubting): Moved | null {
  const { now, actor, detail } = doubting;
  switch (judged) {
    case 'unknown': {
      const changed = { state: 'unknown', reason: 'possibly_sent' } as const;
      return moved(draft, changed, {
        action: 'mark_unknown_after_restore',
        actor,
        now,
        reason: changed.reason,
        detail,
      });
    }
    case 'review': {
      // It has a hole, which no approval of a letter that is held for something else would find. Filled, it is held for this.
      if (isNotWhole(draft)) return null;
      const held = hold({ ...draft, leaseBy: null }, { reason: 'restored', until: null, now, actor, detail });
      return isRefused(held) ? null : held;
    }
    case 'unaffected':
      return null;
    default:
      return judged satisfies never;
  }
}
