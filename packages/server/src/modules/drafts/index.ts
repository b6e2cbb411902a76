export type { AiDraftingLease, AiDraftingResult } from './ai-drafting/attempts.ts';
export {
  AI_DRAFTS_DUE,
  claimAiDrafting,
  finishAiDrafting,
  requestAiDrafting,
  retryAiDrafting,
} from './ai-drafting/store.ts';
export { type StoredDraftContent, listContents } from './contents.ts';
export { countForLadder, countOfRule, countOpen, countToRelease, type HeldCounts } from './counts.ts';
export {
  type Actor,
  boundedDeadline,
  type DraftContent,
  type Draft,
  DRAFT_STATES,
  type DraftState,
  dueOfScheduled,
  ENGINE,
  EXPIRES_AFTER_MS,
  expiresAfter,
  expiryOf,
  GRACE_MS,
  isApproved,
  isIncomplete,
  automaticSendAt,
  INCOMPLETE_REASONS,
  MEMBER_DECIDES,
  UNDO_MS,
  withGrace,
} from './draft.ts';
export { closeEditor, edit, openEditor } from './edit-draft.ts';
export { follow } from './follow-facts.ts';
export {
  cancel,
  dueAction,
  heldOn,
  hold,
  holdOrCancelUnmatched,
  release,
  holdOrCancelReplied,
} from './hold-draft.ts';
export { resumeWithAddress, hashContent, newDraft } from './new-draft.ts';
export {
  findDraft,
  findDrafts,
  listDrafts,
  listDueDrafts,
  listMoves,
  listOpenDrafts,
  listOpenOfPeople,
  lockDraft,
  lockDrafts,
  nextDraftDueAt,
} from './reads.ts';
export { recheckHeld } from './recheck-held.ts';
export {
  type By,
  type DraftActionResult,
  type ActionRefusal,
  conflict,
  invalid,
  isRefused,
  refusal,
  refusalOfExpired,
} from './refusals.ts';
export { type NewMode, setDraftMode, needsConfirmation, resumeDraft } from './resume-drafts.ts';
export { DRAFT_COLUMNS, type DraftRow, selectOf, toDraft } from './rows.ts';
export { askAgain, keepUnknown, resolveDraft, sendAgain } from './send-draft.ts';
export { setNextChecks, keepContents, writeTransitions } from './store.ts';
export { type Action, type DraftTransition, type DraftChange, applyTransition } from './transitions.ts';
export { LADDER_WINDOWS, type LadderCounts, demotes, suggest } from './trust-ladder.ts';
export { eraseDraftRows } from './erase-user.ts';
