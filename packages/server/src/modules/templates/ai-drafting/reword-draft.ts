import {
  type DraftContent,
  type Draft,
  type Action,
  type DraftTransition,
  applyTransition,
  hashContent,
  conflict,
  type DraftActionResult,
  refusal,
  GRACE_MS,
} from '../../drafts/index.ts';

/** Actions after which a member has seen or decided the draft and expects it unchanged. */
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
 * Returns whether AI drafting may still replace the text. `too_late`: a member would have too little time to review it before it is sent.
 * `wait`: the draft is held and may return to its earlier state.
 */
export function isRewordable(
  draft: Draft,
  moves: DraftTransition[],
  now: number,
): 'yes' | 'wait' | 'changed' | 'too_late' {
  if (draft.endedAt !== null || draft.state === 'sending') return 'too_late';
  const isTouched = draft.isEdited || moves.some(({ action }) => TOUCHING.has(action));
  if (isTouched || draft.resendOf !== null) return 'changed';
  if (draft.deadlineAt !== null && draft.deadlineAt - now < GRACE_MS) return 'too_late';
  return draft.state === 'scheduled' ? 'yes' : 'wait';
}

export type RewordInput = {
  content: DraftContent;
  /** The hash of the content that the model got. */
  from: string;
  now: number;
  detail: Record<string, unknown>;
};

/**
 * Replaces the text with that of the model. The facts stay those of the template, so a changed fact renders the template again. No time
 * changes.
 */
export function reword(
  draft: Draft,
  moves: DraftTransition[],
  { content, from, now, detail }: RewordInput,
): DraftActionResult {
  const refused = refusal(draft, 'ai_rewrite', { actor: MODEL, now, hash: from });
  if (refused) return refused;
  if (isRewordable(draft, moves, now) !== 'yes')
    return conflict('AI drafting no longer applies to this draft');
  return applyTransition(
    draft,
    { content, contentHash: hashContent(content) },
    { action: 'ai_rewrite', actor: MODEL, now, detail: { from_hash: draft.contentHash, ...detail } },
  );
}

const MODEL = 'model';
