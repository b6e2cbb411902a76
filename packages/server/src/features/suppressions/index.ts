export {
  type ClearKind,
  type ClearPlace,
  type HashedKind,
  isAboutAddress,
  isHashed,
  LIFTED_BY_LIFE,
  SAID_BY_RECIPIENT,
  type StoredSuppression,
  type SuppressedKind,
  type SuppressedPlace,
  type Suppression,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from './suppression.ts';
export {
  addSuppression,
  addSuppressions,
  type Lifting,
  liftSuppressions,
  liftSuppressionsBy,
  setRefusals,
} from './store.ts';
export { hashPlaces, restorePlaces } from './erased.ts';
export {
  createSuppressionHasher,
  openSuppressionHasher,
  resealSuppressionKey,
  type SuppressionHasher,
} from './hasher.ts';
export {
  type Addressee,
  countSuppressions,
  findLift,
  findRefusals,
  findSuppression,
  findSuppressions,
  type FoundSuppression,
  hasUnsubscribed,
  type Lift,
  listAllSaid,
  listHashingProjects,
  listInForce,
  listSuppressions,
  SUPPRESSIONS_PAGE_MAX,
  searchSuppressions,
} from './reads.ts';
export { countRefusals, listRefusals, listRefusedTopics, type TopicRefusal } from './topics.ts';
