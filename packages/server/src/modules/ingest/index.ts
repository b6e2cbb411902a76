export { type Accept, createAccept } from './accept/accept.ts';
export { authenticate } from './api/authenticate.ts';
export type { Call, HttpDeps } from './api/call.ts';
export { createIngest } from './api/ingest.ts';
export { createLargeBodies } from './api/large-bodies.ts';
export { deleteExpiredKeys } from './idempotency/delete-expired-keys.ts';
export { readClient } from './keys/client-version.ts';
export { createKey } from './keys/change-key.ts';
export { keyUse } from './keys/key-use.ts';
export type { VerifiedKey } from './keys/key.ts';
export { keyring } from './keys/keyring.ts';
export { listKeys } from './keys/list-keys.ts';
export {
  encodeChunk,
  oldestWaiting,
  type IngestPriority,
  settle,
  takeChunks,
  type ChunkProgress,
  type WaitingChunk,
} from './queue/chunk.ts';
export { countWaiting, listWaiting, lockQueue } from './queue/queue.ts';
export { deadLetterRecord, discardDead, listDead, retryDead } from './queue/dead-letters.ts';
export {
  insertChunks,
  updateQueueAdvanced,
  eraseDead,
  forgetDead,
  openQueue,
  type BacklogRow,
} from './queue/store.ts';
export { listWarnings } from './warnings/store.ts';
export { warningCounter } from './warnings/warnings.ts';
export { requestLog } from './activity/request-log.ts';
export { readStream } from './activity/read-stream.ts';
export { readRequestFilter, type ActivityRow } from './activity/stream.ts';
export { forgetStream, insertActivity, sendActivity, eraseActivity } from './activity/store.ts';
