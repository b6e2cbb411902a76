export { audienceNames, loadModels } from './load-models.ts';
export { type EditionPlace, advanceBuild, listBuilding, serveEdition } from './build-version.ts';
export {
  builtUpTo,
  canChange,
  judge,
  type MembershipState,
  type MembershipEvaluation,
} from './evaluate-membership.ts';
export { checkWindows } from './check-definition.ts';
export { countPeople, createAudience, rebuildAudiences } from './change-audience.ts';
export { type Latest, answerQuestions, occurrenceKey } from './event-questions.ts';
export {
  findConditionFacts,
  missingTotals,
  type ConditionFacts,
  personFacts,
  questionsOf,
  totalKey,
} from './facts.ts';
export { findAudience } from './audience.ts';
export { listAudiences } from './show-audiences.ts';
export {
  MEMBERS_PAGE_MAX,
  type MemberOfAny,
  countMembersOfAny,
  listMembers,
  listMembersOfAny,
} from './list-members.ts';
export {
  addVerdicts,
  type AskedPerson,
  type Due,
  eraseStandings,
  findAskedDues,
  findAskedMembers,
  findSince,
  findStandings,
  listDueNow,
  nextDueAt,
  noWrites,
  type StandingWrites,
  writeStandings,
} from './memberships.ts';
export { type AudienceModel, type Edition, covers } from './model.ts';
export type { ListRuleNeeds } from './uses.ts';
