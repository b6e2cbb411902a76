export { loadModels } from './load-models.ts';
export { type AudienceVersionKey, listBuilding, serveAudienceVersion } from './build-version.ts';
export { advanceBuild, buildPiece, type BuildPieceRow } from './build-store.ts';
export { BUILDS_DUE, listMovedRows } from './reads.ts';
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
export { MEMBERS_PAGE_MAX, listMembers } from './list-members.ts';
export {
  type PersonVersions,
  eraseMemberships,
  findVersionTimers,
  findMemberVersions,
  findMemberships,
  type MembershipWrites,
  writeMemberships,
} from './memberships.ts';
export type { AudienceModel, AudienceVersion, Touch } from './model.ts';
export type { ListRuleNeeds } from './uses.ts';
