export { acceptImported, type ImportedRecords } from './accept-imported.ts';
export { acceptOwn } from './accept-own.ts';
export { decodeChunk, encodeChunk, encodePart } from './chunk.ts';
export {
  countDead,
  countWaiting,
  listWaiting,
  oldestLiveAt,
  type ProjectWaiting,
  type Waiting,
} from './count-waiting.ts';
export { bury, eraseDead, forgetDead } from './dead.ts';
export { lockQueue, openQueue } from './queue.ts';
export { listDead } from './list-dead.ts';
export { discardDead, retryDead } from './retry-dead.ts';
export {
  type Priority,
  oldestWaiting,
  placesWaiting,
  settle,
  type Place,
  type Taken,
  takeChunks,
  type WaitingChunk,
} from './take.ts';
