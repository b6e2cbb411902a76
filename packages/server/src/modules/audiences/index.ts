export { audienceNames } from './audience-names.ts';
export { type EditionPlace, advanceBuild, listBuilding, serveEdition } from './build-version.ts';
export { canChange } from './can-change.ts';
export { checkWindows } from './check-definition.ts';
export { countPeople } from './count-people.ts';
export { createAudience } from './create.ts';
export { type Standing, type Verdict, builtUpTo, judge } from './evaluate-membership.ts';
export { type Latest, answerQuestions, occurrenceKey } from './event-questions.ts';
export {
  type PersonFacts,
  findConditionFacts,
  missingTotals,
  personFacts,
  questionsOf,
  totalKey,
} from './facts.ts';
export { findAudience } from './find-audience.ts';
export { listAudiences } from './list-audiences.ts';
export {
  MEMBERS_PAGE_MAX,
  type MemberOfAny,
  countMembersOfAny,
  listMembers,
  listMembersOfAny,
} from './list-members.ts';
export { loadModels } from './load-models.ts';
export {
  type AskedPerson,
  type StandingWrites,
  addVerdicts,
  eraseStandings,
  findAskedDues,
  findAskedMembers,
  findSince,
  findStandings,
  noWrites,
  writeStandings,
} from './memberships.ts';
export { type AudienceModel, type Edition, covers } from './model.ts';
export { rebuildAudiences } from './rebuild.ts';
export type { ListRuleNeeds } from './rule-needs.ts';
export { type Due, listDueNow, nextDueAt } from './timers.ts';
