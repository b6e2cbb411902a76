export { keepPage, type ReadPage } from './keep-page.ts';
export {
  findSnapshot,
  listCatalogue,
  listHistories,
  listNamed,
  listUndecided,
  type Undecided,
} from './reads.ts';
export { type CustomerHistory, OBJECTS_MAX, type Snapshot } from './snapshot.ts';
export {
  type Decision,
  deleteCustomersOf,
  deleteSnapshotRows,
  moveSnapshot,
  updateDecisions,
} from './store.ts';
