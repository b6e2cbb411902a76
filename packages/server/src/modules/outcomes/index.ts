export { classifyReply } from './bounces/classify-reply.ts';
export { classifyText } from './bounces/classify-text.ts';
export { normaliseReply, type Stage } from './bounces/refusal.ts';
export {
  type ReportedOutcome,
  type Outcome,
  type OutcomeView,
  outcomeView,
  type OutcomeData,
} from './outcome.ts';
export { IMPORT_ACTION, importSuppressions } from './suppression-lists/import-suppressions.ts';
export { listOutcomesOf, listOutcomesOfDraft } from './reads.ts';
export type { Note } from './record/consequences.ts';
export {
  type AppliedOutcomes,
  type RecordDeps,
  applyOutcomes,
  recordOutcomes,
  recordOutcomesIn,
  reportOutcomes,
} from './record/record-outcomes.ts';
export { resolveAccepted, resolveDelivered, resolveLost } from './record/resolve-unknown.ts';
export {
  type TrackedEmail,
  eraseOutcomes,
  insertLinks,
  type EmailRef,
  deleteLinksBefore,
  deleteLinksOf,
} from './store.ts';
export { findTypedEntry, hashErased, restoreReturned } from './suppressions/hashed-suppressions.ts';
export { concernedBy, formsOf, liftIn, suppressIn } from './suppressions/suppress.ts';
export { readTarget, listedKind, listedSuppression } from './suppressions/suppression-view.ts';
export {
  addSuppression,
  liftSuppressionsBy,
  setTopicUnsubscribes,
  liftSuppressions,
} from './suppressions/store.ts';
export { RECIPIENT_REASONS, type StoredSuppression, isAboutAddress } from './suppressions/entries.ts';
export { listSuppressions, findSuppression } from './suppressions/reads.ts';
