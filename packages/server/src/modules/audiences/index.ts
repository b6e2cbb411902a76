export { audienceNames, loadModels } from './load-models.ts';
export { type AudienceVersionKey, listBuilding, serveAudienceVersion } from './build-version.ts';
export { advanceBuild } from './store.ts';
export {
  builtUpTo,
  canChange,
  evaluateMemberships,
  type MembershipState,
  type MembershipEvaluation,
} from './evaluate-membership.ts';
export { deleteOldVersions } from './delete-retired.ts';
export { checkWindows } from './check-definition.ts';
export { countPeople, createAudience, rebuildAudiences } from './change-audience.ts';
export { type Latest, findWindowResults, occurrenceKey } from './event-questions.ts';
export {
  findConditionFacts,
  missingTotals,
  type ConditionFacts,
  personFacts,
  windowLookups,
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
  addEvaluations,
  type PersonVersions,
  type AudienceTimer,
  eraseMemberships,
  findVersionTimers,
  findMemberVersions,
  findSince,
  findMemberships,
  listDueAudienceTimers,
  noWrites,
  type MembershipWrites,
  writeMemberships,
} from './memberships.ts';
export { nextDueAt } from './reads.ts';
export { type AudienceModel, type AudienceVersion, covers } from './model.ts';
export type { ListRuleNeeds } from './uses.ts';
