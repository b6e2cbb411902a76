export {
  type ChangedPerson,
  findErasures,
  findLift,
  findPeople,
  listPeople,
  type PersonId,
  personKey,
  writePeople,
} from './people.ts';
export {
  type AcceptedUser,
  type Mark,
  mergeEvent,
  isKnownTrait,
  isSame,
  mergeUser,
  newPerson,
  noChange,
  type Person,
  type PersonChange,
  hasTraitChange,
  traitChanges,
} from './person.ts';
export { findByAddress, findEmails } from './find-emails.ts';
export { isSuppressed } from './watermark.ts';
export {
  countErasuresWaiting,
  erasePersonRows,
  forgetErasures,
  idBefore,
  listErased,
  rememberErasure,
} from './erase-person.ts';
export { forgetWritten, listWritten } from './forget-written.ts';
export { listBuried, listNoted } from './list-noted.ts';
export { listEntryTraces, listMessageTraces, listTimerTraces } from './list-traces.ts';
export { isStorable, listShown, showPerson, type ShownPerson, unknownPerson } from './show-person.ts';
export { countFiltered, type ListedPerson, listFiltered } from './list-filtered.ts';
export { type Listening, readPeopleFilter } from './people-filter.ts';
export { listAddressed, listImports, listTraitChanges } from './reads.ts';
export { type Certainty, type KeptChange, type Known, type PersonThen, personThen } from './then.ts';
export {
  countTimeline,
  listTimeline,
  TIMELINE_KINDS,
  type TimelineAsked,
  type TimelineKind,
  type TimelineRow,
} from './timeline.ts';
export { listTraitNames } from './trait-names.ts';
