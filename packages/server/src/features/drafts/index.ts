export {
  type Actor,
  type Content,
  type Draft,
  DRAFT_STATES,
  type DraftState,
  ENGINE,
  isNotWhole,
  NOT_WHOLE,
  PERSON_DECIDES,
} from './draft.ts';
export { type Action, can, type Move, type Moved } from './moves.ts';
export { type By, type Decided, isRefused, orThrow, type Refusal } from './refuse.ts';
export { addressArrived, newDraft, type NewDraft } from './new-draft.ts';
export { approve, skip, undo } from './approve-draft.ts';
export { closeEditor, edit, openEditor } from './edit-draft.ts';
export { postpone, type Postponed } from './postpone-draft.ts';
export {
  cancel,
  type DueAction,
  dueAction,
  heldOn,
  hold,
  noLongerHolds,
  release,
  replied,
} from './hold-draft.ts';
export {
  claim,
  finish,
  returnDraft,
  type Result,
  retry,
  sendAgain,
  resolveDraft,
  holdWhileSending,
} from './send-draft.ts';
export { follow, type Followed } from './follow-facts.ts';
export { afterRestore, type AfterRestore, judgeRestored, type RestoredAt } from './after-restore.ts';
export { isRewordable, reword } from './reword-draft.ts';
export { modeChanged, needsConfirmation, type NewMode, resumed } from './resume-drafts.ts';
export { boundedDeadline, isApproved, isExpired, spreadMs } from './timing.ts';
export { listQueued, type QueuedLetter } from './queue.ts';
export {
  askLater,
  dueHeldNow,
  eraseDrafts,
  type HeldAsked,
  keepContents,
  setTeamHeard,
  writeMoved,
} from './store.ts';
export {
  findDraft,
  findDrafts,
  findSentAnyway,
  listDrafts,
  listDueDrafts,
  listMoves,
  listOpenDrafts,
  listOpenOfPeople,
  listOpenOfRuns,
  lockDraft,
  lockDrafts,
  nextDraftDueAt,
} from './reads.ts';
export {
  countAutopilot,
  countNeeds,
  type DraftNamed,
  findDueSoon,
  findFirstOpen,
  NEEDS_COUNTED_MAX,
  type Needs,
} from './needs.ts';
export {
  countForLadder,
  countToLetGo,
  findTeamTold,
  type HeldCounts,
  listProjectsToTell,
  listWaiting,
} from './counts.ts';
export {
  demotes,
  LADDER_WINDOWS,
  type LadderCounts,
  type Outcomes,
  suggest,
  type Suggestion,
} from './trust-ladder.ts';
export { takeTeamDigest, teamDigest, type TeamLetter, type WaitingOfRule } from './team-digest.ts';
export { type Contending, listContending } from './contenders.ts';
export { type DraftContentKept, type EditedDraft, listContents, listEdited } from './contents.ts';
export { applyChanges, type EditChange, recurringChanges } from './edit-memory.ts';
export {
  countDrafts,
  countReview,
  DRAFTS_COUNT_MAX,
  type DraftInList,
  type DraftPage,
  type DraftPlace,
  type DraftView,
  inList,
  listDraftPage,
  placeOfDraft,
  readDraftFilter,
  type ReviewCounts,
} from './review.ts';
export { countOfRule, countOpen, countUntouched, type RuleDraftCounts } from './rule-counts.ts';
