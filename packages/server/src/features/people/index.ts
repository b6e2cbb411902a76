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
  mergeUser,
  newPerson,
  noChange,
  type Person,
  type PersonChange,
  traitChanges,
} from './person.ts';
export { findByAddress, findEmails } from './find-emails.ts';
export { isSuppressed } from './watermark.ts';
export { erasePersonRows, forgetErasures, idBefore, listErased, rememberErasure } from './erase-person.ts';
export { forgetWritten, listWritten } from './forget-written.ts';
export { listBuried, listNoted } from './list-noted.ts';
export { listEntryTraces, listMessageTraces, listTimerTraces } from './list-traces.ts';
export { isStorable, listShown, showPerson, type ShownPerson, unknownPerson } from './show-person.ts';
