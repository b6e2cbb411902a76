export { countStream, readStream } from './activity/read-stream.ts';
export { type NotedRequest, type RequestLog, requestLog } from './activity/request-log.ts';
export { addChanges, eraseChanges, forgetStream } from './activity/store.ts';
export {
  type ChangeRow,
  type RequestItem,
  type StreamItem,
  cursorOf,
  cursorOfTime,
  readRequestFilter,
  readStreamFilter,
} from './activity/stream.ts';
export { deleteExpected, upsertExpected } from './catalog/store.ts';
export {
  type CountedNames,
  NOTHING_COUNTED,
  beginCounting,
  countOn,
  findCounted,
  isCountedFor,
  listCountingProjects,
} from './events/counted.ts';
export { dropEmptyPartitions } from './events/drop-partitions.ts';
export { eraseEvents, forgetEvents, leaveCounting } from './events/erase-events.ts';
export { type AcceptedEvent, type NewEvent, dedupeKey, occurredAt } from './events/event.ts';
export { type Total, claimDedupe, countEvents, findTotals, storeEvents } from './events/events.ts';
export { type KnownProperties, knownProperties } from './events/known-properties.ts';
export { type EventOfPerson, listAll, listNewest } from './events/list-events.ts';
export { listNames } from './events/list-names.ts';
export { type NamedEvent, type NewestEvent, findNewest } from './events/newest.ts';
export { SANDBOX_MONTHS_AHEAD, ensurePartitions, isPartitioned } from './events/partitions.ts';
export { findLastReceived } from './events/reads.ts';
export {
  countErasuresWaiting,
  erasePersonRows,
  forgetErasures,
  idBefore,
  listErased,
  rememberErasure,
} from './people/erase-person.ts';
export { findByAddress, findEmails } from './people/find-emails.ts';
export { listBuried, listNoted } from './people/list-noted.ts';
export { findPersonThen } from './people/past-person.ts';
export type { Certainty, Known, PersonThen } from './people/past-traits.ts';
export {
  type ChangedPerson,
  type PersonId,
  findErasures,
  findLift,
  findPeople,
  listPeople,
  personKey,
  writePeople,
} from './people/people.ts';
export {
  type AcceptedUser,
  KNOWN_TRAITS,
  type Mark,
  type Person,
  type PersonChange,
  hasTraitChange,
  isKnownTrait,
  isSame,
  mergeEvent,
  mergeUser,
  newPerson,
  noChange,
  traitChanges,
} from './people/person.ts';
export { listAddressed, listTraitChanges } from './people/reads.ts';
export { type ShownPerson, isStorable, showPerson, unknownPerson } from './people/show-person.ts';
export { clearWritten, listWrittenProjects } from './people/store.ts';
export { isSuppressed } from './people/watermark.ts';
