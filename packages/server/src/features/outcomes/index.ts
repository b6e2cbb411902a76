export { addHits } from './add-hits.ts';
export { type Hit, type HitFacts } from './hit.ts';
export {
  claimDueHits,
  type DueHits,
  findUrls,
  type JudgedHit,
  type LinkPlace,
  listDueHits,
  listHits,
  listJudgedHits,
  listTargets,
} from './hit-reads.ts';
export { type BotReason, signsOf, type Verdict } from './bot.ts';
export {
  type HitTrace,
  type LinkTrace,
  listAllOutcomes,
  listHitTraces,
  listLinkTraces,
} from './list-of-person.ts';
export type { Happened, Outcome, WhatHappened } from './outcome.ts';
export {
  countForRule,
  countRefused,
  countReplies,
  findKnown,
  findLetters,
  findSoftBounces,
  holdLetters,
  listOutcomesOf,
  listOutcomesOfDraft,
  listProofs,
  outcomeKey,
  type OutcomeLetter,
  type RuleShares,
} from './reads.ts';
export { settleLetter } from './settle-letter.ts';
export {
  eraseHits,
  forgetAgents,
  forgetLinks,
  insertLinks,
  putOffHits,
  saveVerdicts,
  settleCounts,
  type TrackedLetter,
  eraseOutcomes,
  insertOutcomes,
} from './store.ts';
