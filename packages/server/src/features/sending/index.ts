export { gate, type GateAnswer, type GateFacts, type GateReason, type Policy } from './gate.ts';
export { CONTEND_WITHIN_MS, slotsLeft, whoYields, type Cap, type Contender } from './caps.ts';
export { refill, takeTokens, type Bucket, type Throttle } from './throttle.ts';
export { compare, type Comparison } from './compare.ts';
export { type Fate, type Queue, type QueuedDraft } from './simulate.ts';
export { findClaims, findOtherClaims, listStale } from './messages.ts';
export { keepBucket, openSendTurn, readBucket, takeFreeSendTurn, takeSendTurn } from './send-turn.ts';
export {
  deleteMessages as eraseMessages,
  endMessages,
  insertMessages as claimMessages,
  type MessageRow,
} from './store.ts';
