export { type FollowOptions, followStream } from './follow-stream.ts';
export { countStream, findItem, type ReadStreamOptions, readStream, type StreamPage } from './read-stream.ts';
export { type NotedRequest, type RequestLog, requestLog } from './request-log.ts';
export { addChanges, eraseChanges, forgetStream } from './store.ts';
export {
  type ChangeItem,
  type ChangeKind,
  type ChangeRow,
  type Cursor,
  cursorOf,
  cursorOfTime,
  type EventItem,
  momentOf,
  readRequestFilter,
  readStreamFilter,
  type RequestItem,
  type StreamItem,
  type StreamType,
} from './stream.ts';
