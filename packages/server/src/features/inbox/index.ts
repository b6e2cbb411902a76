export { decodeChunk, encodeChunk, encodePart } from './chunk.ts';
export { countWaiting } from './count-waiting.ts';
export { lockLane, openLane } from './lane.ts';
export { listDead } from './list-dead.ts';
export { retryDead } from './retry-dead.ts';
