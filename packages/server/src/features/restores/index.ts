export { type Lineage, RESTORE_GUARDS, type RestoreGuard } from './lineage.ts';
export { acceptPlace, isAccepted, isGateClosed, lockLineage, noteHere, takeBackAcceptance } from './store.ts';
