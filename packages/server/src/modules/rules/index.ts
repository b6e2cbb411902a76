export { createRule } from './write-rule.ts';
export type { Decision, DecisionCount } from './decisions/decision.ts';
export { deleteOldDecisions } from './decisions/delete-old-decisions.ts';
export { listDecisionsOf, writeDecisions } from './decisions/store.ts';
export {
  type Anchor,
  autopilotPeriod,
  type Definition,
  type Newest,
  type Reason,
  REASONS,
  type Trigger,
} from './definitions/rule.ts';
export { createRules } from './definitions/save-rule.ts';
export { type TriggerMatch, type DecisionFacts, decide } from './definitions/decide.ts';
export { findRule, listRules, loadRules, type WholeRule } from './definitions/load-rules.ts';
export type { ActiveRule } from './definitions/model.ts';
export { triggerSentence } from './definitions/sentence.ts';
export { SHIPPED_RULES } from './definitions/shipped.ts';
export { demoteRule } from './definitions/store.ts';
export { dateIn, dropTimers, listDueTimers, listTimersOf, type Timer } from './definitions/timers.ts';
export {
  enrollmentItems,
  type EnrollmentStep,
  nextEnrollmentStep,
  recordEnrollment,
} from './enrollment/enroll.ts';
export { excludeLeavers } from './enrollment/exclude-leavers.ts';
export { leaveEnrollments, nextEnrollmentAt } from './enrollment/store.ts';
export { applyRules } from './evaluation/apply-rules.ts';
export { createSlowRenders, type SlowRenders, RenderLimitExceeded } from './evaluation/batch-rendering.ts';
export { type EvaluationContext, factsOf, createEvaluationContext } from './evaluation/context.ts';
export { gapOf, isOutdated, draftTemplate, write } from './evaluation/create-drafts.ts';
export { loadSnapshots } from './evaluation/gather-facts.ts';
export { localeOfPerson, zoneOfPerson } from './evaluation/recipient.ts';
export {
  type EnrollmentItem,
  type PersonActivity,
  type Item,
  activitiesIn,
} from './evaluation/trigger-events.ts';
export { nextMoment } from './next-timer.ts';
export { type Model, type Models, createModels, loadProjectModels } from './project-model.ts';
export { endRun } from './runs/advance-run.ts';
export { compile } from './runs/program.ts';
export { findOpenRuns, findRunsById, listDueRuns, listRunsOf } from './runs/reads.ts';
export { type RuleInForce, listRuleNeeds, listRulesInForce } from './runs/rules-in-force.ts';
export type { Run } from './runs/run.ts';
export { setLostTime, endRuns, updateRuns, waitAgain, wakeRuns } from './runs/store.ts';
export { type BacktestSlots, createBacktestSlots } from './backtest/backtest.ts';
export { countAsOf, evaluateWindowAsOf } from './event-history.ts';
export { eraseRuleRows } from './erase-user.ts';
