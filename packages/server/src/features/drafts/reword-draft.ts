import type { Content, Draft } from './draft.ts';
import { type Action, type Move, moved } from './moves.ts';
import { hashContent } from './new-draft.ts';
import { conflict, type Decided, refusal } from './refuse.ts';
import { GRACE_MS } from './timing.ts';

/** A person has looked at it or decided about it, and is to find it as it was. */
const TOUCHING: ReadonlySet<Action> = new Set([
  'approve',
  'edit',
  'postpone',
  'skip',
  'undo',
  'open_editor',
  'close_editor',
  'ai_rewrite',
]);

/**
 * Whether a model may still put it into other words: `too_late` where a person would have too little time to see them before
 * it leaves. `wait`: it is held, and may go on as it was.
 */
export function isRewordable(
  draft: Draft,
  moves: Move[],
  now: number,
): 'yes' | 'wait' | 'touched' | 'too_late' {
  if (draft.endedAt !== null || draft.state === 'sending') return 'too_late';
  const isTouched = draft.isEdited || moves.some(({ action }) => TOUCHING.has(action));
  if (isTouched || draft.resendOf !== null) return 'touched';
  if (draft.deadlineAt !== null && draft.deadlineAt - now < GRACE_MS) return 'too_late';
  return draft.state === 'scheduled' ? 'yes' : 'wait';
}

export type Reworded = {
  content: Content;
  /** The hash of the content that the model was asked to word. */
  from: string;
  now: number;
  detail: Record<string, unknown>;
};

/**
 * Its words are the model's now, its facts are those that its letter read: as soon as one of them changes it is written by its
 * letter again. No time of it moves.
 */
export function reword(draft: Draft, moves: Move[], { content, from, now, detail }: Reworded): Decided {
  const refused = refusal(draft, 'ai_rewrite', { actor: MODEL, now, hash: from });
  if (refused) return refused;
  if (isRewordable(draft, moves, now) !== 'yes')
    return conflict('AI drafting no longer applies to this draft');
  return moved(
    draft,
    { content, contentHash: hashContent(content) },
    { action: 'ai_rewrite', actor: MODEL, now, detail: { from_hash: draft.contentHash, ...detail } },
  );
}

const MODEL = 'model';
