export type { EndReason, Run, RunAnchor } from './run.ts';
export { compile, type Program, type ProgramLetter, type ProgramStep } from './program.ts';
export {
  advance,
  type AdvanceFrom,
  afterDraft,
  endRun,
  lostAfter,
  onEvent,
  onTime,
  type SeenEvent,
  type Stand,
  standAt,
  type Stop,
} from './advance.ts';
export {
  doubtRuns,
  endRuns,
  eraseRuns,
  pauseRuns,
  insertRuns,
  type RunPerson,
  resumeRuns,
  updateRuns,
  waitAgain,
  wakeRuns,
} from './store.ts';
export {
  findLastRuns,
  findOpenRuns,
  findRunsById,
  findUnderWay,
  listDueRuns,
  listRunsOf,
  listVersionsInUse,
  nextRunAt,
  type VersionInUse,
} from './reads.ts';
export { countLift, countRuns, type Lift, type RunCounts } from './count-runs.ts';
export { type MovedRuns, type MoveRuns, moveRuns, weighMove } from './move-runs.ts';
export { type OutlinedStep, outline } from './outline.ts';
export { countPlaces, listRunsOfRule, type PlaceCount } from './inside.ts';
