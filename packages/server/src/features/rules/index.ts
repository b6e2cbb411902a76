export { type Lint, lintRule, type LintMore, type Seen } from './lint.ts';
export { parseDefinition, type ParsedRule, parseRule, type RuleParsing } from './parse.ts';
export { documentOf, wholeDocumentOf } from './print.ts';
export { ruleSentence, stepLabel, triggerSentence } from './sentence.ts';
export { SHIPPED_RULES } from './shipped.ts';
export { type Silence, type SilenceFacts, silenceOf } from './silence.ts';
export { type Newest } from './about.ts';
export { createRules } from './create-rule.ts';
export {
  burnsEntry,
  type Considered,
  type Decided,
  decide,
  type EnrollmentFacts,
  type PersonFacts,
} from './decide.ts';
export { editRule, switchRule } from './edit-rule.ts';
export { burnEntries, type EntryRecord, findEntries, writeEntries } from './entries.ts';
export { type EntryRow, type EntryWish } from './entry.ts';
export { findRule, listRules, type WholeRule } from './find-rule.ts';
export { loadRules } from './load-rules.ts';
export { listRuleVersions, type WrittenVersion } from './list-versions.ts';
export { listVersionsAwaited } from './reads.ts';
export { type ActiveRule, buildRuleModel, type Hook, type RuleModel, timerPlace } from './model.ts';
export { inOrder, type Ranked, reordered } from './reorder.ts';
export { dateIn, isTimed, momentOf } from './moment.ts';
export {
  type Anchor,
  type Definition,
  GOAL_WITHIN_MS,
  type Reason,
  REASONS,
  type Rule,
  type Trigger,
} from './rule.ts';
export { type DemotedRule, listDemoted } from './list-demoted.ts';
export { deleteOfPerson as eraseRuleRows, demoteRule } from './store.ts';
export {
  dropTimers,
  dueTimers,
  listTimersOf,
  nextTimerAt,
  setTimers,
  type Timer,
  type TimerKey,
} from './timers.ts';
