export { checkReferences, readRule } from './check-rule.ts';
export { createRule } from './create-rule.ts';
export type { Decision, LedgerRow } from './decisions/decision.ts';
export { listDecisionsOf } from './decisions/reads.ts';
export { eraseDecisions, writeDecisions } from './decisions/store.ts';
export { autopilotPeriod } from './definitions/autopilot.ts';
export { createRules } from './definitions/create-rule.ts';
export { type Considered, type PersonFacts, decide } from './definitions/decide.ts';
export type { EntryRow } from './definitions/entry.ts';
export { type WholeRule, findRule, listRules } from './definitions/find-rule.ts';
export { loadRules } from './definitions/load-rules.ts';
export { type ActiveRule, type Hook, buildRuleModel, timerPlace } from './definitions/model.ts';
export {
  type Anchor,
  type Definition,
  REASONS,
  type Reason,
  type Rule,
  type Trigger,
} from './definitions/rule.ts';
export { triggerSentence } from './definitions/sentence.ts';
export { SHIPPED_RULES } from './definitions/shipped.ts';
export { deleteOfPerson, demoteRule } from './definitions/store.ts';
export type { Newest } from './definitions/subject-of-rule.ts';
export { dateIn, isTimed, momentOf } from './definitions/timed-triggers.ts';
export { type Timer, dropTimers, dueTimers, listTimersOf } from './definitions/timers.ts';
export {
  type EnrollmentStep,
  enrollmentItems,
  nextEnrollmentStep,
  recordEnrollment,
} from './enrollment/enroll-batch.ts';
export { excludeLeavers } from './enrollment/exclude-leavers.ts';
export { leaveEnrollments, nextEnrollmentAt } from './enrollment/store.ts';
export { applyRules } from './evaluation/apply-rules.ts';
export { TooMuchRendering } from './evaluation/batch-rendering.ts';
export { type Desk, consider, factsOf, openDesk } from './evaluation/context.ts';
export { gapOf, isOutdated, letterOf, letterToRender, write } from './evaluation/create-drafts.ts';
export { gatherKnown } from './evaluation/gather-facts.ts';
export { localeOfPerson, zoneOfPerson } from './evaluation/recipient.ts';
export { type SlowRenders, createSlowRenders } from './evaluation/slow-renders.ts';
export { type EnrollmentItem, type Happened, type Item, happenedIn } from './evaluation/trigger-events.ts';
export { nextMoment } from './next-timer.ts';
export { type Model, type Models, createModels, loadProjectModels } from './project-model.ts';
export { advance, afterDraft, endRun, onTime, standAt } from './runs/advance-run.ts';
export { letterNames } from './runs/email-names.ts';
export { type Program, type ProgramLetter, compile } from './runs/program.ts';
export { findOpenRuns, findRunsById, listDueRuns, listRunsOf } from './runs/reads.ts';
export { type RuleInForce, listRuleNeeds, listRulesInForce } from './runs/rules-in-force.ts';
export type { Run } from './runs/run.ts';
export { doubtRuns, endRuns, eraseRuns, updateRuns, waitAgain, wakeRuns } from './runs/store.ts';
