export { type Claim, type Verdict, againAt, isWornOut, lookAgainAt } from './ai-drafting/attempts.ts';
export { claimWording, eraseWording, settleWording, wantWording, wordLater } from './ai-drafting/store.ts';
export { type DraftContentKept, type EditedDraft, listContents, listEdited } from './contents.ts';
export {
  type HeldCounts,
  countForLadder,
  countToLetGo,
  findTeamTold,
  listProjectsToTell,
  listWaiting,
} from './counts.ts';
export {
  type Actor,
  type Content,
  DRAFT_STATES,
  type Draft,
  type DraftState,
  ENGINE,
  NOT_WHOLE,
  PERSON_DECIDES,
  isNotWhole,
} from './draft.ts';
export { closeEditor, edit, openEditor } from './edit-draft.ts';
export { follow } from './follow-facts.ts';
export { cancel, dueAction, heldOn, hold, noLongerHolds, release, replied } from './hold-draft.ts';
export { addressArrived, hashContent, newDraft } from './new-draft.ts';
export {
  findDraft,
  findDrafts,
  findSentAnyway,
  listDrafts,
  listDueDrafts,
  listMoves,
  listOpenDrafts,
  listOpenOfPeople,
  lockDraft,
  lockDrafts,
  nextDraftDueAt,
} from './reads.ts';
export { askHeldAgain } from './recheck-held.ts';
export {
  type By,
  type Decided,
  type Refusal,
  STILL_DRAFTED,
  conflict,
  invalid,
  isRefused,
  refusal,
  refusalOfExpired,
} from './refusals.ts';
export { type NewMode, modeChanged, needsConfirmation, resumed } from './resume-drafts.ts';
export { DRAFT_COLUMNS, type DraftRow, selectOf, toDraft } from './rows.ts';
export { countOfRule, countOpen, countUntouched } from './rule-counts.ts';
export {
  claim,
  finish,
  holdWhileSending,
  resolveDraft,
  retry,
  returnDraft,
  sendAgain,
} from './send-draft.ts';
export { askLater, eraseDrafts, keepContents, setTeamHeard, writeMoved } from './store.ts';
export { type TeamLetter, takeTeamDigest, teamDigest } from './team-digest.ts';
export {
  EXPIRES_AFTER_MS,
  GRACE_MS,
  UNDO_MS,
  boundedDeadline,
  dueOfScheduled,
  expiresAfter,
  expiryOf,
  isApproved,
  leavesAt,
  withGrace,
} from './timing.ts';
export { type Action, type Move, type Moved, moved } from './transitions.ts';
export { LADDER_WINDOWS, type LadderCounts, demotes, suggest } from './trust-ladder.ts';
