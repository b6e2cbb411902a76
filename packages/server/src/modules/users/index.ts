export { type CountedNames, countOn, findCounted, isCountedFor } from './events/counted.ts';
export { beginCounting } from './events/store.ts';
export {
  dropEmptyPartitions,
  ensurePartitions,
  isPartitioned,
  SANDBOX_MONTHS_AHEAD,
} from './events/partitions.ts';
export { partitionKeeper } from './events/keep-partitions.ts';
export { eraseEvents, leaveCounting } from './events/erase-events.ts';
export { forgetEvents } from './events/forget-store.ts';
export { type AcceptedEvent, type NewEvent, dedupeKey } from './events/event.ts';
export {
  claimDedupe,
  countEvents,
  findTotals,
  type PropertyCache,
  storeEvents,
  type Total,
} from './events/events.ts';
export {
  type EventOfPerson,
  findNewest,
  listAll,
  type NamedEvent,
  type NewestEvent,
} from './events/find-events.ts';
export { listNames } from './events/list-names.ts';
export { COUNTS_DUE, listCountingProjects, listNewest } from './events/reads.ts';
export { erasePersonRows, rememberErasure } from './people/erase-person.ts';
export {
  type ChangedPerson,
  findByAddress,
  findEmails,
  findErasures,
  findLift,
  findPeople,
  listPeople,
  type PersonId,
  personKey,
  writePeople,
} from './people/people.ts';
export { listDeadLettersOf, listNoted } from './people/list-noted.ts';
export { type Certainty, findPastPerson, type PastValue, type PastPerson } from './people/past-person.ts';
export {
  KNOWN_TRAITS,
  type Person,
  type PersonChange,
  isKnownTrait,
  isSame,
  fitsColumn,
} from './people/person.ts';
export { listTraitChanges, idBefore } from './people/reads.ts';
export { type PersonView, isStorable, showPerson, unknownPerson } from './people/show-person.ts';
export { clearWritten, countPeopleAfter, forgetErasures } from './people/store.ts';
export { isSuppressed, type Watermark } from './people/watermark.ts';
