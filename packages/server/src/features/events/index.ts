export {
  beginCounting,
  countOn,
  type CountedNames,
  findCounted,
  isCountedFor,
  listCountingProjects,
  NOTHING_COUNTED,
} from './counted.ts';
export { type AcceptedEvent, dedupeKey, type NewEvent, occurredAt } from './event.ts';
export { claimDedupe, countEvents, findTotals, storeEvents, type Total } from './events.ts';
export { findKnownKeys } from './known.ts';
export { type KnownProperties, knownProperties } from './known-properties.ts';
export { ensurePartitions, isPartitioned, SANDBOX_MONTHS_AHEAD } from './partitions.ts';
export { answerQuestions, type Ask, type Latest, occurrenceKey, type WindowAnswers } from './questions.ts';
export { dropEmptyPartitions } from './drop-partitions.ts';
export { eraseEvents, forgetEvents, leaveCounting } from './erase-events.ts';
export { type EventOfPerson, listAll, listNewest } from './list-events.ts';
export { type ListedName, listNames } from './list-names.ts';
export { findNewest, type NewestEvent } from './newest.ts';
export { countStored } from './count-stored.ts';
export {
  answerThen,
  type AskedThen,
  countThen,
  findFirstAfter,
  findNewestThen,
  findWatermarkThen,
} from './then.ts';
export { listReceived, type ReceivedEvent } from './list-received.ts';
export { countByName, findLargest } from './find-largest.ts';
export { type CatalogueName, listCatalogue, listSamples } from './catalogue.ts';
export { findLastReceived } from './reads.ts';
