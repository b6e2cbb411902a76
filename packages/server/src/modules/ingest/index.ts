export { type Accept, createAccept } from './accept/accept.ts';
export { authenticate } from './api/authenticate.ts';
export type { Call, HttpDeps } from './api/deps.ts';
export { createIngest } from './api/ingest.ts';
export { createLargeBodies } from './api/large-bodies.ts';
export { readClient } from './keys/client-version.ts';
export { createKey } from './keys/create.ts';
export { keyUse } from './keys/key-use.ts';
export type { VerifiedKey } from './keys/key.ts';
export { keyring } from './keys/keyring.ts';
export { listKeys } from './keys/list-keys.ts';
export { encodeChunk } from './queue/chunk.ts';
export { countDead, countWaiting, listWaiting, oldestLiveAt } from './queue/count-waiting.ts';
export { bury, eraseDead, forgetDead } from './queue/dead-letters.ts';
export { listDead } from './queue/list-dead-letters.ts';
export { lockQueue, openQueue } from './queue/queue.ts';
export { discardDead, retryDead } from './queue/retry-dead-letters.ts';
export { insertChunks, updateQueueAdvanced } from './queue/store.ts';
export {
  type Place,
  type Priority,
  type Taken,
  type WaitingChunk,
  oldestWaiting,
  placesWaiting,
  settle,
  takeChunks,
} from './queue/take-chunks.ts';
export { listWarnings } from './warnings/list-warnings.ts';
export { warningCounter } from './warnings/warning-counter.ts';
