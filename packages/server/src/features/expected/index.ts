export { type Drift, driftOf } from './drift.ts';
export { deleteExpected, upsertExpected } from './store.ts';
