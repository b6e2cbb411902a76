export {
  countDeliveries,
  countWebhooks,
  findBody,
  listDeliveries,
  listLateToTell,
  listLoads,
  listTold,
  nextDeliveryAt,
  nextLooks,
  type ShownDelivery,
} from './reads.ts';
export { followMessages, placeText, readPlace } from './follow-messages.ts';
export { listMessagesOf, type WebhookTrace } from './list-of-person.ts';
export { jitterShare, nextAttempt, TRIES_MAX } from './schedule.ts';
export { eraseMessages as eraseWebhooks, forgetMessages as forgetWebhooks } from './forget-store.ts';
export { insertHistory, replayDeliveries } from './replay-store.ts';
export {
  claimDeliveries,
  dropPending,
  insertMessages as queueWebhooks,
  insertTest,
  loseLeases,
  updateResults,
} from './store.ts';
export {
  type Claimed,
  type DeliveryResult,
  type DeliveryState,
  type History,
  messageName,
  type NewWebhookMessage,
  readMessageName,
  type Replay,
  type Room,
  type Test,
  TEST_TYPE,
} from './webhook.ts';
