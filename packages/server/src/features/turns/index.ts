export {
  moveTime,
  newModel,
  openTurn,
  readTurn,
  startModelAt,
  takeFreeTurns,
  takeTurn,
  timesAhead,
  type Turn,
} from './turn.ts';
export { type Work } from './store.ts';
export {
  duePlaces,
  duesOf,
  dueEarlier,
  type DuePlace,
  dueNext,
  duesNext,
  firstOfEach,
  holdDue,
  holdDues,
  isAnyWork,
} from './due.ts';
