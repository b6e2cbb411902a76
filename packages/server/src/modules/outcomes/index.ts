export {
  type AdmittedHit,
  type BotReason,
  type Hit,
  type HitFacts,
  HITS_MAX,
  type HitSign,
  judgeAlone,
  judgeHits,
  type KeptHit,
  type EmailRef,
  SETTLE_AFTER_MS,
  signsOf,
  type BotClassification,
} from './hits.ts';
export { classifyReply } from './bounces/classify-reply.ts';
export { classifyText } from './bounces/classify-text.ts';
export { normaliseReply, type ReplyClass, type Stage } from './bounces/refusal.ts';
export {
  type ReportedOutcome,
  type Outcome,
  type ShownOutcome,
  toShownOutcome,
  type WhatHappened,
} from './outcome.ts';
export { listOutcomesOf, listOutcomesOfDraft } from './reads.ts';
export type { Note } from './record/consequences.ts';
export {
  type Applied,
  type RecordDeps,
  applyOutcomes,
  recordOutcomes,
  recordOutcomesIn,
  tellOutcomes,
} from './record/record-outcomes.ts';
export { resolveLost } from './record/resolve-unknown.ts';
export {
  type TrackedEmail,
  addHitCounts,
  eraseHits,
  eraseOutcomes,
  forgetAgents,
  forgetLinks,
  insertLinks,
  putOffHits,
  saveVerdicts,
  settleCounts,
  upsertHits,
} from './store.ts';
export { findTyped, hashErased, restoreReturned } from './suppressions/hashed-suppressions.ts';
export { concernedBy, formsOf, liftIn, suppressIn } from './suppressions/suppress.ts';
export { readPlace, shownKind, toListed } from './suppressions/suppression-view.ts';
export { listRefusedTopics } from './suppressions/topics.ts';
