export { openTurn, readTurn, takeTurn, takeFreeTurns, newModel, type Turn } from './turn.ts';
export { type Work } from './store.ts';
export { duePlaces, dueEarlier, type DuePlace, dueNext, firstOfEach, holdDue, isAnyWork } from './due.ts';
