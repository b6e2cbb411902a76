export { settleHits } from './settle-hits.ts';
export { createTracker, type Tracker } from './tracker.ts';
