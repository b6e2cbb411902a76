export { type BotReason, type Verdict, judgeAlone, judgeHits, signsOf } from './bot.ts';
export { classifyReply } from './bounces/classify-reply.ts';
export { classifyText } from './bounces/classify-text.ts';
export { normaliseReply } from './bounces/normalise-reply.ts';
export type { ReplyClass, Stage } from './bounces/refusal.ts';
export {
  type AdmittedHit,
  HITS_MAX,
  type Hit,
  type HitFacts,
  type HitSign,
  type KeptHit,
  type LetterPlace,
  SETTLE_AFTER_MS,
} from './hit.ts';
export { type ShownOutcome, toShownOutcome } from './outcome-view.ts';
export type { Happened, Outcome, WhatHappened } from './outcome.ts';
export { listOutcomesOf, listOutcomesOfDraft } from './reads.ts';
export type { Note } from './record/new-outcomes.ts';
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
  type TrackedLetter,
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
export { findTyped, hashErased, restoreReturned } from './suppressions/erased-suppressions.ts';
export { concernedBy, formsOf, liftIn, suppressIn } from './suppressions/suppress.ts';
export { readPlace, shownKind, toListed } from './suppressions/suppression-view.ts';
export { listRefusedTopics } from './suppressions/topics.ts';
