export {
  LIFTED_BY_LIFE,
  SAID_BY_RECIPIENT,
  type SuppressedKind,
  type Suppression,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from './suppression.ts';
export {
  addSuppression,
  addSuppressions,
  eraseSuppressions,
  type Lifting,
  liftSuppressions,
  liftSuppressionsBy,
  setRefusals,
  type SuppressedPlace,
} from './store.ts';
export {
  type Addressee,
  findLift,
  findRefusals,
  findSuppression,
  findSuppressions,
  type FoundSuppression,
  hasUnsubscribed,
  type Lift,
  listInForce,
  listSuppressions,
  SUPPRESSIONS_PAGE_MAX,
} from './reads.ts';
