import type { Log } from '../../platform/log.ts';
import type { IngestPriority } from '../ingest/index.ts';
import { DUE_WORK, hasAnyWork } from '../../platform/locks/store.ts';
import type { WorkWatch } from '../../platform/jobs/work-watch.ts';
import type { Processor } from './process.ts';
import type { BatchResult } from './batch-result.ts';
import { lookForWork, type ProjectBacklog } from './look-for-work.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Loop, runLoop } from '../../platform/jobs/run-loop.ts';
import { createFailureBackoff, type FailureBackoff } from '../../platform/jobs/failure-backoff.ts';

export type ProcessorLoopOptions = {
  db: Database;
  processor: Processor;
  log: Log;
  watch?: WorkWatch;
  /** The maximum number of projects per poll. */
  projectsMax?: number;
  onLag?: (facts: { queue: IngestPriority | 'timers'; ms: number }) => void;
  onWarning?: (projectId: number, code: string) => void;
};

/** Records that arrive within this time share a batch. */
const GATHER = { ms: 20, below: 100 };
const PROJECTS_MAX = 1_000;
const PROJECTS_OF_BATCH_MAX = 250;
/** Where tables are distributed, a statement about several projects is slow, and it may not lock their rows. */
const PROJECTS_OF_BATCH_DISTRIBUTED = 1;
const PASSED_OVER_MAX = 20;
const BATCH_RECORDS = 1_000;
/** Live records wait for a running bulk batch to end, so bulk batches are smaller while live records arrive. */
const BATCH_RECORDS_BESIDE_LIVE = 200;
const LIVE_IS_NEAR_MS = 2_000;

type Work = IngestPriority | 'time';
const ROUND: readonly (readonly Work[])[] = [
  ['live', 'time', 'bulk'],
  ['time', 'live', 'bulk'],
  ['live', 'time', 'bulk'],
  ['time', 'live', 'bulk'],
  ['bulk', 'live', 'time'],
];

type State = {
  options: ProcessorLoopOptions;
  backoff: FailureBackoff;
  /** The last poll found no work, so the next one is a cheap check. */
  isIdle: boolean;
  /** When live records last waited, by `performance.now()`. */
  liveAt: number;
  slot: number;
  after: Record<Work, number>;
  cursor: number;
  /** What is left of the last poll, if it found more projects than it lists and the next batch can be filled from it. */
  rest: Found | null;
  projectsMax: number;
  batchProjectsMax: number;
};

/**
 * Processes the ingest queue while records wait. Priorities rotate so that no kind of work starves:
 *
 *    live → timers → live → timers → bulk
 *
 * When one has no work, the next in the list takes its turn.
 */
export function startProcessor(options: ProcessorLoopOptions): Loop {
  const state: State = {
    options,
    backoff: createFailureBackoff(),
    isIdle: false,
    liveAt: -Infinity,
    slot: 0,
    after: { live: 0, bulk: 0, time: 0 },
    cursor: 0,
    rest: null,
    projectsMax: options.projectsMax ?? PROJECTS_MAX,
    batchProjectsMax: options.db.isDistributed ? PROJECTS_OF_BATCH_DISTRIBUTED : PROJECTS_OF_BATCH_MAX,
  };
  return runLoop({
    work: () => processNext(state),
    gather: GATHER,
    watch: options.watch?.add(DUE_WORK.process),
    onFailure: (error) => options.log.warn({ err: error }, 'processing.failed'),
  });
}

/** Does the work whose turn it is. Returns how much was done: 0 if none waits, or if other workers hold the locks of all waiting projects. */
async function processNext(state: State): Promise<number> {
  const { db } = state.options;
  const isWork = state.isIdle ? await hasAnyWork(db, new Date(db.clock.now())) : true;
  const found = state.rest ?? (isWork ? await findWork(state) : NOTHING_FOUND);
  state.rest = null;
  state.isIdle = found.backlogs.length === 0 && found.due.length === 0;
  const order = ROUND[state.slot % ROUND.length] ?? [];
  state.slot += 1;
  const tried = new Set<number>();
  for (const work of order) {
    const count =
      work === 'time' ? await runTimers(state, found.due) : await runPriority(state, work, { found, tried });
    if (count === 0) continue;
    if (work === 'live') state.rest = restOf(found, tried);
    return count;
  }
  return 0;
}

/**
 * With a record in each of many projects, a batch holds a quarter of the projects of a poll. A poll took a third of PostgreSQL's time, so four
 * batches share one. If not all waiting projects fit into a poll, a new record waits for its turn anyway.
 */
function restOf({ backlogs, due, isFull }: Found, tried: ReadonlySet<number>): Found | null {
  if (!isFull || tried.size < PROJECTS_OF_BATCH_MAX) return null;
  const untried = backlogs.filter(({ projectId }) => !tried.has(projectId));
  return untried.length < PROJECTS_OF_BATCH_MAX ? null : { backlogs: untried, due, isFull };
}

/** `isFull`: more projects may wait than a poll lists. */
type Found = { backlogs: ProjectBacklog[]; due: number[]; isFull: boolean };
const NOTHING_FOUND: Found = { backlogs: [], due: [], isFull: false };

async function findWork(state: State): Promise<Found> {
  const { options, cursor, backoff } = state;
  const { db, onLag } = options;
  const now = db.clock.now();
  const query = { after: cursor, limit: state.projectsMax, now: new Date(now) };
  const { backlogs, timers } = await lookForWork(db, query);
  // If there are more projects than the limit, the next poll starts after this one.
  const isFull = backlogs.length === state.projectsMax;
  state.cursor = isFull ? (backlogs.at(-1)?.projectId ?? 0) : 0;
  onLag?.({ queue: 'timers', ms: now - (timers[0]?.nextAt.getTime() ?? now) });
  return {
    backlogs: backlogs.filter(({ projectId }) => backoff.isOpen(projectId, now)),
    due: timers.map(({ projectId }) => projectId).filter((id) => backoff.isOpen(id, now)),
    isFull,
  };
}

async function runPriority(
  state: State,
  priority: IngestPriority,
  { found: { backlogs }, tried }: { found: Found; tried: Set<number> },
): Promise<number> {
  const isAlone = performance.now() - state.liveAt > LIVE_IS_NEAR_MS;
  const records = priority === 'live' || isAlone ? BATCH_RECORDS : BATCH_RECORDS_BESIDE_LIVE;
  const waiting = rotate(
    backlogs.filter((backlog) => backlog[priority] > 0),
    state.after[priority],
  );
  // Skips projects that other workers have locked.
  for (let tries = 0, from = 0; tries < PASSED_OVER_MAX && from < waiting.length; tries += 1) {
    const candidates = chooseProjects(waiting.slice(from), {
      priority,
      records,
      projectsMax: state.batchProjectsMax,
    });
    const projectIds = state.backoff.selectBatch(candidates);
    from += projectIds.length;
    for (const projectId of projectIds) tried.add(projectId);
    if (priority === 'live') state.liveAt = performance.now();
    const result = await attempt(state, projectIds, () =>
      state.options.processor.batch(priority, projectIds, records),
    );
    if (!result || result.records === 0) continue;
    state.after[priority] = result.lastProjectId ?? 0;
    report(state.options, priority, result);
    return result.records;
  }
  return 0;
}

/** Round-robin: the project served last goes to the back, however long its other timers are overdue. */
async function runTimers(state: State, due: number[]): Promise<number> {
  const sorted = due.toSorted((a, b) => a - b);
  const behind = sorted.filter((id) => id > state.after.time);
  for (const projectId of [...behind, ...sorted.filter((id) => id <= state.after.time)]) {
    const result = await attempt(state, [projectId], () => state.options.processor.timers(projectId));
    if (!result || result.people === 0) continue;
    state.after.time = projectId;
    return result.people;
  }
  return 0;
}

/** Runs a batch. A failure changes nothing. Projects that failed together are then tried one by one, each after its own pause. */
async function attempt<T>(state: State, projectIds: number[], work: () => Promise<T>): Promise<T | null> {
  const { backoff, options } = state;
  try {
    const result = await work();
    backoff.recordSuccess(projectIds);
    return result;
  } catch (error) {
    const retryInMs = backoff.recordFailure(projectIds, options.db.clock.now());
    const fields = { project_ids: projectIds.slice(0, 10), retry_in_ms: retryInMs };
    options.log.warn({ ...fields, err: error }, 'processing.failed');
    return null;
  } finally {
    const now = options.db.clock.now();
    for (const [projectId, ms] of options.processor.takeSlow()) {
      const retryInMs = Math.round(backoff.recordBlock(projectId, now, ms));
      const fields = { project_id: projectId, ms: Math.round(ms), retry_in_ms: retryInMs };
      options.log.warn(fields, 'processing.blocked');
    }
  }
}

function rotate(backlogs: ProjectBacklog[], after: number): ProjectBacklog[] {
  return [
    ...backlogs.filter(({ projectId }) => projectId > after),
    ...backlogs.filter(({ projectId }) => projectId <= after),
  ];
}

/** Returns the projects whose first chunks fill a batch. All others stay unlocked for other workers. */
function chooseProjects(
  backlogs: ProjectBacklog[],
  { priority, records, projectsMax }: { priority: IngestPriority; records: number; projectsMax: number },
): number[] {
  let waiting = 0;
  const chosen: number[] = [];
  for (const backlog of backlogs) {
    if (waiting >= records || chosen.length === projectsMax) break;
    waiting += backlog[priority];
    chosen.push(backlog.projectId);
  }
  return chosen;
}

function report(
  { db, onLag, onWarning }: ProcessorLoopOptions,
  priority: IngestPriority,
  result: BatchResult,
): void {
  if (result.oldestAt !== null)
    onLag?.({ queue: priority, ms: Math.max(0, db.clock.now() - result.oldestAt) });
  for (const { projectId, code } of result.warnings) onWarning?.(projectId, code);
}
