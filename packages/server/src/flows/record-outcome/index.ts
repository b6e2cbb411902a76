export {
  type Applied,
  applyOutcomes,
  type RecordDeps,
  recordOutcomes,
  recordOutcomesIn,
  tellOutcomes,
} from './record-outcomes.ts';
export type { Note } from './concerned.ts';
export { resolveLost } from './resolve-unknown.ts';
