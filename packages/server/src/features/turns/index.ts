export { openTurn, takeTurn, takeFreeTurns, newModel, type Turn } from './turn.ts';
export { duePlaces, dueEarlier, dueNext, holdDue, isAnyWork } from './due.ts';
