import { backoffMs } from '../../platform/async/backoff.ts';
import type { Log } from '../../platform/log.ts';
import type { IngestPriority, ProjectBacklog } from '../ingest/index.ts';
import { isAnyWork } from '../../platform/locks/timers.ts';
import type { Digest } from './process.ts';
import type { Digested } from './batch-result.ts';
import { lookForWork } from './look-for-work.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Bell, createBell } from '../../platform/jobs/sleep.ts';
import { createTroubles, type Troubles } from '../../platform/jobs/failure-backoff.ts';

/**
 * Processes the ingest queue while records wait. Priorities rotate so that no kind of work starves:
 *
 *    live → timers → live → timers → bulk
 *
 * When one has no work, the next in the list takes its turn.
 *
 * Polling every 100 ms (250 ms when idle) guarantees progress. `wake` only makes it start sooner.
 */
export type Digester = { wake(): void; stop(): Promise<void> };

export type DigesterOptions = {
  db: Database;
  digest: Digest;
  log: Log;
  /** The maximum number of projects per poll. */
  placesMax?: number;
  onLag?: (facts: { queue: IngestPriority | 'timers'; ms: number }) => void;
  onOdd?: (projectId: number, code: string) => void;
};

const LOOK_EVERY_MS = 100;
/** The interval after a time without work. A lost wake-up then costs a quarter of a second, and polling costs next to nothing. */
const LOOK_EVERY_WHEN_QUIET_MS = 250;
const QUIET_AFTER_MS = 10_000;
/** A small batch costs almost as much as a large one, so records that arrive within this time share a batch. */
const GATHER_MS = 20;
const SMALL_BATCH = 100;
const PLACES_MAX = 1_000;
const PROJECTS_OF_BATCH_MAX = 250;
const PASSED_OVER_MAX = 20;
const BATCH_RECORDS = 1_000;
/** Live records wait for a running bulk batch to end, so bulk batches are smaller while live records arrive. */
const BATCH_RECORDS_BESIDE_LIVE = 200;
const LIVE_IS_NEAR_MS = 2_000;
const TROUBLE_BACKOFF = { baseMs: 100, maxMs: 5_000 };

type Work = IngestPriority | 'time';
const ROUND: readonly (readonly Work[])[] = [
  ['live', 'time', 'bulk'],
  ['time', 'live', 'bulk'],
  ['live', 'time', 'bulk'],
  ['time', 'live', 'bulk'],
  ['bulk', 'live', 'time'],
];

type State = {
  options: DigesterOptions;
  troubles: Troubles;
  stopping: boolean;
  /** The last poll found no work, so the next one is a cheap check. */
  isIdle: boolean;
  /** When work was last done, by `performance.now()`. */
  workedAt: number;
  /** When live records last waited, by `performance.now()`. */
  liveAt: number;
  place: number;
  after: Record<Work, number>;
  lookedAt: number;
  placesMax: number;
  failures: number;
};

export function startDigester(options: DigesterOptions): Digester {
  const bell = createBell();
  const state: State = {
    options,
    troubles: createTroubles(),
    stopping: false,
    isIdle: false,
    workedAt: performance.now(),
    liveAt: -Infinity,
    place: 0,
    after: { live: 0, bulk: 0, time: 0 },
    lookedAt: 0,
    placesMax: options.placesMax ?? PLACES_MAX,
    failures: 0,
  };
  const running = run(state, bell);
  return {
    wake: () => bell.ring(),
    async stop() {
      state.stopping = true;
      bell.ring();
      await running;
    },
  };
}

async function run(state: State, bell: Bell): Promise<void> {
  while (!state.stopping) {
    const startedAt = performance.now();
    const done = await round(state);
    if (state.stopping) return;
    if (done > 0) state.workedAt = performance.now();
    if (done === 0) await bell.wait(restMs(state));
    else if (done < SMALL_BATCH) await bell.rest(GATHER_MS - (performance.now() - startedAt));
  }
}

function restMs({ failures, workedAt }: State): number {
  const isQuiet = performance.now() - workedAt > QUIET_AFTER_MS;
  const everyMs = isQuiet ? LOOK_EVERY_WHEN_QUIET_MS : LOOK_EVERY_MS;
  return failures === 0 ? everyMs : Math.max(everyMs, backoffMs(failures, TROUBLE_BACKOFF));
}

/** Returns how much was done. It is 0 if nothing waits, or if other workers hold the locks of all waiting projects. */
async function round(state: State): Promise<number> {
  try {
    const isWork = state.isIdle
      ? await isAnyWork(state.options.db, new Date(state.options.db.clock.now()))
      : true;
    const found = isWork ? await look(state) : NOTHING_FOUND;
    state.failures = 0;
    state.isIdle = found.places.length === 0 && found.due.length === 0;
    const order = ROUND[state.place % ROUND.length] ?? [];
    state.place += 1;
    for (const work of order) {
      const done =
        work === 'time' ? await doTime(state, found.due) : await doPriority(state, work, found.places);
      if (done > 0) return done;
    }
    return 0;
  } catch (error) {
    state.failures += 1;
    state.options.log.warn({ err: error }, 'processing.failed');
    return 0;
  }
}

type Found = { places: ProjectBacklog[]; due: number[] };
const NOTHING_FOUND: Found = { places: [], due: [] };

async function look(state: State): Promise<Found> {
  const { options, lookedAt, troubles } = state;
  const { db, onLag } = options;
  const now = db.clock.now();
  const look = { after: lookedAt, limit: state.placesMax, now: new Date(now) };
  const { places, dues } = await lookForWork(db, look);
  // If there are more projects than the limit, the next poll starts after this one.
  state.lookedAt = places.length < state.placesMax ? 0 : (places.at(-1)?.projectId ?? 0);
  onLag?.({ queue: 'timers', ms: now - (dues[0]?.nextAt.getTime() ?? now) });
  return {
    places: places.filter(({ projectId }) => troubles.isOpen(projectId, now)),
    due: dues.map(({ projectId }) => projectId).filter((id) => troubles.isOpen(id, now)),
  };
}

async function doPriority(state: State, priority: IngestPriority, places: ProjectBacklog[]): Promise<number> {
  const isAlone = performance.now() - state.liveAt > LIVE_IS_NEAR_MS;
  const records = priority === 'live' || isAlone ? BATCH_RECORDS : BATCH_RECORDS_BESIDE_LIVE;
  const waiting = goRound(
    places.filter((place) => place[priority] > 0),
    state.after[priority],
  );
  // Skips projects that other workers have locked.
  for (let tries = 0, from = 0; tries < PASSED_OVER_MAX && from < waiting.length; tries += 1) {
    const projectIds = state.troubles.together(enoughFor(records, waiting.slice(from), priority));
    from += projectIds.length;
    if (priority === 'live') state.liveAt = performance.now();
    const digested = await attempt(state, projectIds, () =>
      state.options.digest.batch(priority, projectIds, records),
    );
    if (!digested || digested.records === 0) continue;
    state.after[priority] = digested.lastProjectId ?? 0;
    report(state.options, priority, digested);
    return digested.records;
  }
  return 0;
}

/** Round-robin: the project served last goes to the back, however long its other timers are overdue. */
async function doTime(state: State, due: number[]): Promise<number> {
  const inOrder = due.toSorted((a, b) => a - b);
  const behind = inOrder.filter((id) => id > state.after.time);
  for (const projectId of [...behind, ...inOrder.filter((id) => id <= state.after.time)]) {
    const done = await attempt(state, [projectId], () => state.options.digest.due(projectId));
    if (!done || done.people === 0) continue;
    state.after.time = projectId;
    return done.people;
  }
  return 0;
}

/** Runs a batch. A failure changes nothing. Projects that failed together are then tried one by one, each after its own pause. */
async function attempt<T>(state: State, projectIds: number[], work: () => Promise<T>): Promise<T | null> {
  const { troubles, options } = state;
  try {
    const done = await work();
    troubles.passed(projectIds);
    return done;
  } catch (error) {
    const retryInMs = troubles.failed(projectIds, options.db.clock.now());
    const fields = { project_ids: projectIds.slice(0, 10), retry_in_ms: retryInMs };
    options.log.warn({ ...fields, err: error }, 'processing.failed');
    return null;
  } finally {
    const now = options.db.clock.now();
    for (const [projectId, ms] of options.digest.takeSlow()) {
      const retryInMs = Math.round(troubles.blocked(projectId, now, ms));
      const fields = { project_id: projectId, ms: Math.round(ms), retry_in_ms: retryInMs };
      options.log.warn(fields, 'processing.blocked');
    }
  }
}

function goRound(places: ProjectBacklog[], after: number): ProjectBacklog[] {
  return [
    ...places.filter(({ projectId }) => projectId > after),
    ...places.filter(({ projectId }) => projectId <= after),
  ];
}

/** Returns the projects whose first chunks fill a batch. All others stay unlocked for other workers. */
function enoughFor(records: number, places: ProjectBacklog[], priority: IngestPriority): number[] {
  let waiting = 0;
  const chosen: number[] = [];
  for (const place of places) {
    if (waiting >= records || chosen.length === PROJECTS_OF_BATCH_MAX) break;
    waiting += place[priority];
    chosen.push(place.projectId);
  }
  return chosen;
}

function report({ db, onLag, onOdd }: DigesterOptions, priority: IngestPriority, digested: Digested): void {
  if (digested.oldestAt !== null)
    onLag?.({ queue: priority, ms: Math.max(0, db.clock.now() - digested.oldestAt) });
  for (const { projectId, code } of digested.odd) onOdd?.(projectId, code);
}
