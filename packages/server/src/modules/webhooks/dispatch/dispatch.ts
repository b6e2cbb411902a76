/**
 * The webhook dispatcher sends outcomes to endpoints. A delivery is claimed and its attempt written; the request is sent only after that
 * commit. The next round records its result, and claims more in the same commit.
 */

import type { FinishedAttempt } from './answer.ts';
import { post, type PostDeps } from './post.ts';
import { type EndpointEvent, type OutgoingDelivery, runRound } from './round.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isPoisonous } from '../../../platform/db/errors.ts';
import { type ProjectTimer, listDueProjects } from '../../../platform/locks/timers.ts';
import type { Log } from '../../../platform/log.ts';

export type Delivery = {
  /** Records answers, and starts to send deliveries that are due. Rounds do not overlap. */
  round(): Promise<RoundFacts>;
  /** Number of requests that are not recorded yet. */
  unrecordedCount(): number;
  /** Stops claiming deliveries. */
  stop(): void;
  /** Resolves when all requests in flight are answered. */
  whenIdle(): Promise<void>;
  /** Stops waiting for answers; the next round records these requests as stopped. */
  abandon(): void;
};

export type RoundFacts = { recorded: number; claimed: number; lateMs: number };

export type DeliveryOptions = Omit<PostDeps, 'clock'> & {
  db: Database;
  log: Log;
  /** Called when an answer arrives. */
  onResult?: () => void;
};

/** Limit over all endpoints. Each endpoint has its own, much lower quota. */
const IN_FLIGHT_MAX = 1_000;
const PROJECTS_MAX = 100;

export function createDelivery(options: DeliveryOptions): Delivery {
  const { db, onResult = () => {} } = options;
  const { clock, failpoint } = db;
  const flight = createFlight({ ...options, clock, failpoint }, onResult);
  const state: State = { options, flight, stopping: false, isShaken: false, avoided: new Map() };
  return {
    round: () => round(state),
    unrecordedCount: () => flight.size(),
    stop() {
      state.stopping = true;
    },
    whenIdle: () => flight.whenIdle(),
    abandon: () => flight.abandon(),
  };
}

type State = {
  options: DeliveryOptions;
  flight: Flight;
  stopping: boolean;
  /** True if the last round failed. The next round then takes one answer or one project, to isolate the cause. */
  isShaken: boolean;
  /** Projects that failed on their own, and the time until which they are skipped. */
  avoided: Map<number, number>;
};

const AVOIDED_MS = 5_000;

async function round(state: State): Promise<RoundFacts> {
  const { options, flight, isShaken } = state;
  const now = options.db.clock.now();
  const attempts = flight.take(isShaken ? 1 : IN_FLIGHT_MAX);
  const mayClaim = !state.stopping && !(isShaken && attempts.length > 0);
  const capacity = mayClaim ? IN_FLIGHT_MAX - flight.size() - attempts.length : 0;
  const work: PendingRound = { parts: [{ attempts, projects: [] }], capacity };
  try {
    const projects = capacity > 0 ? await listProjects(state, now) : [];
    work.parts = partsOf({ attempts, projects }, options.db);
    const lateMs = lateMsOf(projects, options.db);
    const counts = await runParts(state, work);
    state.isShaken = false;
    return { ...counts, lateMs };
  } catch (error) {
    state.isShaken = true;
    const [failed = { attempts, projects: [] }] = work.parts;
    const [only] = failed.projects;
    const isAlone = failed.attempts.length + failed.projects.length === 1;
    if (only && isAlone) state.avoided.set(only.projectId, now + AVOIDED_MS);
    // An answer that can never be recorded counts as lost when its lease expires.
    if (!isShaken || !isHopeless(error)) flight.restore(work.parts.flatMap((part) => part.attempts));
    throw error;
  }
}

/** The parts of a round that are not committed yet, the current one first. */
type PendingRound = { parts: RoundPart[]; capacity: number };
type RoundCounts = Pick<RoundFacts, 'recorded' | 'claimed'>;

async function runParts(state: State, work: PendingRound): Promise<RoundCounts> {
  const counts: RoundCounts = { recorded: 0, claimed: 0 };
  while (work.parts[0]) {
    const { recorded, claimed } = await roundOf(state, {
      ...work.parts[0],
      capacity: work.capacity - counts.claimed,
    });
    counts.recorded += recorded;
    counts.claimed += claimed;
    work.parts.shift();
  }
  return counts;
}

/** What a transaction of a round works on. */
type RoundPart = { attempts: FinishedAttempt[]; projects: ProjectTimer[] };

/** A round is one transaction or, where tables are distributed, one for each project. */
function partsOf(round: RoundPart, { isDistributed }: Pick<Database, 'isDistributed'>): RoundPart[] {
  if (!isDistributed) return [round];
  const parts = new Map<number, RoundPart>();
  const partOf = (projectId: number): RoundPart => {
    const part = parts.get(projectId) ?? { attempts: [], projects: [] };
    parts.set(projectId, part);
    return part;
  };
  for (const attempt of round.attempts) partOf(attempt.delivery.projectId).attempts.push(attempt);
  for (const project of round.projects) partOf(project.projectId).projects.push(project);
  return [...parts.values()];
}

function lateMsOf([first]: ProjectTimer[], { clock }: Pick<Database, 'clock'>): number {
  return first ? Math.max(0, clock.now() - first.nextAt.getTime()) : 0;
}

function isHopeless(error: unknown): boolean {
  return isPoisonous(error) || error instanceof TypeError || error instanceof RangeError;
}

async function listProjects(
  { options: { db }, isShaken, avoided }: State,
  now: number,
): Promise<ProjectTimer[]> {
  for (const [projectId, until] of avoided) if (until <= now) avoided.delete(projectId);
  const projects = await listDueProjects(db, { work: 'webhooks', now: new Date(now), limit: PROJECTS_MAX });
  const open = projects.filter(({ projectId }) => !avoided.has(projectId));
  return isShaken ? open.slice(0, 1) : open;
}

type RoundWork = RoundPart & { capacity: number };

async function roundOf(
  { options: { db, log }, flight }: State,
  { attempts, projects, capacity }: RoundWork,
): Promise<RoundCounts> {
  if (attempts.length === 0 && projects.length === 0) return { recorded: 0, claimed: 0 };
  const projectIds = projects.map(({ projectId }) => projectId);
  const { claimed, lost, events } = await runRound(db, { attempts, projectIds, capacity });
  for (const delivery of claimed) flight.begin(delivery);
  if (lost > 0) log.warn({ deliveries: lost }, 'webhooks.lease_expired');
  for (const event of events) report(log, event);
  return { recorded: attempts.length, claimed: claimed.length };
}

function report(log: Log, { endpoint, health, event }: EndpointEvent): void {
  const { projectId, id } = endpoint;
  const { failures, failingSince } = health;
  const fields = { project_id: projectId, endpoint_id: id, failures, failing_since: failingSince };
  if (event === 'gone' || event === 'failing') log.warn({ ...fields, reason: event }, 'endpoint.disabled');
  else if (event === 'warned') log.warn(fields, 'endpoint.failing');
  else log.info(fields, event === 'opened' ? 'endpoint.paused' : 'endpoint.recovered');
}

/** Requests in flight, and answers that are not recorded yet. */
type Flight = {
  begin(delivery: OutgoingDelivery): void;
  /** Removes and returns at most `most` answers, for recording. */
  take(most: number): FinishedAttempt[];
  /** Returns answers to the queue because they could not be recorded. */
  restore(attempts: FinishedAttempt[]): void;
  size(): number;
  /** Resolves when all requests in flight are answered. */
  whenIdle(): Promise<void>;
  /** Stops waiting for answers. A later answer is ignored. */
  abandon(): void;
};

function createFlight(deps: PostDeps, onResult: () => void): Flight {
  const posted = new Map<OutgoingDelivery, Promise<void>>();
  let attempts: FinishedAttempt[] = [];
  return {
    begin(delivery) {
      const recorded = post(deps, delivery).then((result) => {
        // An abandoned request already has its result.
        if (!posted.delete(delivery)) return;
        attempts.push({ delivery: delivery, result });
        onResult();
      });
      posted.set(delivery, recorded);
    },
    take: (most) => attempts.splice(0, most),
    restore(unrecorded) {
      attempts = [...unrecorded, ...attempts];
    },
    size: () => posted.size + attempts.length,
    async whenIdle() {
      await Promise.all(posted.values());
    },
    abandon() {
      const endedAt = deps.clock.now();
      for (const delivery of posted.keys()) attempts.push({ delivery, result: { kind: 'stopped', endedAt } });
      posted.clear();
    },
  };
}
