export { gate, type GateAnswer, type GateReason } from './gate.ts';
export { type GateFacts } from './facts.ts';
export { type Policy } from './facts.ts';
export { CONTEND_WITHIN_MS, slotsLeft, whoYields, type Cap, type Contender } from './caps.ts';
export { refill, takeTokens, type Bucket, type Throttle } from './throttle.ts';
export { comparing, type Comparison } from './compare.ts';
export { type Fate, type Queue, type QueuedDraft, simulating } from './simulate.ts';
export { quietHoursInForce, quietSpans, quietUntil } from './quiet-hours.ts';
export { type QuietWindow } from './facts.ts';
export { type Identity, TEST_INBOX_DOMAIN, senderGate, senderOf } from './sender.ts';
export { type Outlet } from './facts.ts';
export { letterHeaders, replyAddress } from './headers.ts';
export {
  BECAME,
  countLetters,
  findLetter,
  type Letter,
  type LetterPlace,
  listLetters,
  MESSAGE_STATES,
} from './letters.ts';
export { findProjectOfMessage, hasMessages } from './message-anywhere.ts';
export { warmupDay, warmupLeft, warmupTroubled } from './warmup.ts';
export { type Pace, paceNow, slowed } from './pace.ts';
export { MIME_MAX_BYTES, packMime } from './frozen.ts';
export { type MessageEnd } from './message-end.ts';
export {
  countForWarmup,
  countSentTo,
  type EarlierMessage,
  findClaims,
  findEarlier,
  findFrozen,
  findHanded,
  findMessageById,
  findOtherClaims,
  type FrozenRow,
  type HandedMessage,
  listLastReplies,
  listLost,
  listNarrow,
  type LostMessage,
} from './messages.ts';
export { keepBucket, openSendTurn, readBucket, takeFreeSendTurn, takeSendTurn } from './send-turn.ts';
export {
  type Claimed,
  deleteFrozen,
  deleteMessages as eraseMessages,
  endMessages,
  insertMessages as claimMessages,
  type MessageRow,
  type NarrowRow,
  resolveMessages,
  type Submission,
  submitMessages,
  upsertNarrow,
  withdrawClaims,
} from './store.ts';
export { endSkipped, takeBackSkipped } from './skipped-store.ts';
