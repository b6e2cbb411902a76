export type { SuppressedKind, Suppression, SuppressionReason } from './suppression.ts';
export {
  addSuppression,
  eraseSuppressions,
  liftSuppressionsBy,
  removeSuppression,
  type SuppressedPlace,
} from './store.ts';
export {
  type Addressee,
  findSuppressions,
  type FoundSuppression,
  listSuppressions,
  SUPPRESSIONS_PAGE_MAX,
} from './reads.ts';
