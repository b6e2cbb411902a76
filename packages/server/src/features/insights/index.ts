export {
  bouncedOf,
  deliveredOf,
  type Grouping,
  GROUPINGS,
  type Insight,
  OPENED_WITHIN_MS,
} from './insight.ts';
export { type Arm, liftOf, type LiftShown } from './lift.ts';
export { countInsights, type Insights } from './reads.ts';
export {
  countDraftDays,
  countEventDays,
  countOutcomeDays,
  countSentDays,
  type DayCount,
  type OutcomeDay,
} from './days.ts';
export { countRuleDays, daysOf, emptyDay, type RuleDay, sinceDays } from './rule-days.ts';
export { findOldest } from './oldest.ts';
