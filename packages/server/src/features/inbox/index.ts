export { decodeChunk, encodeChunk, encodePart } from './chunk.ts';
export { countWaiting, type Waiting } from './count-waiting.ts';
export { lockLane, openLane } from './lane.ts';
export { type DeadLetter, listDead } from './list-dead.ts';
export { retryDead } from './retry-dead.ts';
