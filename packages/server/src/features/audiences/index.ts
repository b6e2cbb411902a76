export { type AudienceModel, covers, type Edition } from './model.ts';
export { canChange } from './can-change.ts';
export { builtUpTo, judge, type Judged, type Standing, type Verdict } from './judge.ts';
export { loadModels } from './load-models.ts';
export {
  addVerdicts,
  type AskedPerson,
  eraseStandings,
  findAskedDues,
  findAskedMembers,
  findSince,
  findStandings,
  noWrites,
  type StandingWrites,
  writeStandings,
} from './standings.ts';
export { advanceBuild, type EditionPlace, listBuilding, serveEdition } from './build-edition.ts';
export { deleteRetired, listRetired } from './delete-retired.ts';
export { type Due, listDueNow, nextDueAt } from './dues.ts';
export { namesAsked } from './names-asked.ts';
export { listBuiltOn, listReferrers } from './list-referrers.ts';
export { countPeople } from './count-people.ts';
export { createAudience, type NewEdition } from './create-audience.ts';
export { type AudienceEdit, editAudience, rebuildAudience } from './edit-audience.ts';
export { deleteAudience } from './delete-audience.ts';
export { type Audience, findAudience } from './find-audience.ts';
export { listAudiences, type ListedAudience } from './list-audiences.ts';
export {
  countMembersOfAny,
  listMembers,
  listMembersOfAny,
  type Member,
  type MemberOfAny,
  MEMBERS_PAGE_MAX,
} from './list-members.ts';
export { type Preview, previewDefinition, sayDefinition } from './preview-definition.ts';
export { type GrowthDay, listGrowth } from './growth.ts';
export { showAudience, type ShownAudience } from './show-audience.ts';
export type { ListRuleNeeds, RuleNeed } from './rule-needs.ts';
