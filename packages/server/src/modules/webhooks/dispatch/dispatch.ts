import type { FinishedAttempt } from './answer.ts';
import { post, type PostDeps } from './post.ts';
import { type EndpointEvent, type Leaving, runRound } from './round.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isPoisonous } from '../../../platform/db/errors.ts';
import { type DuePlace, duePlaces } from '../../../platform/locks/timers.ts';
import type { Log } from '../../../platform/log.ts';

/**
 * The webhook dispatcher sends outcomes to endpoints. A delivery is claimed and its attempt written; the request is sent only after that
 * commit. The next round records its result, and claims more in the same commit.
 */
export type Delivery = {
  /** Records answers, and starts to send deliveries that are due. Rounds do not overlap. */
  round(): Promise<RoundFacts>;
  /** Number of requests that are not recorded yet. */
  underWay(): number;
  /** Stops claiming deliveries. */
  stop(): void;
  /** Resolves when all requests in flight are answered. */
  answered(): Promise<void>;
  /** Stops waiting for answers; the next round records these requests as stopped. */
  abandon(): void;
};

export type RoundFacts = { recorded: number; claimed: number; lateMs: number };

export type DeliveryOptions = Omit<PostDeps, 'clock'> & {
  db: Database;
  log: Log;
  /** Called when an answer arrives. */
  onAnswer?: () => void;
};

/** Limit over all endpoints. Each endpoint has its own, much lower quota. */
const IN_FLIGHT_MAX = 1_000;
const PLACES_MAX = 100;

export function createDelivery(options: DeliveryOptions): Delivery {
  const { db, onAnswer = () => {} } = options;
  const { clock, reach } = db;
  const flight = createFlight({ ...options, clock, reach }, onAnswer);
  const state: State = { options, flight, stopping: false, isShaken: false, avoided: new Map() };
  return {
    round: () => round(state),
    underWay: () => flight.size(),
    stop() {
      state.stopping = true;
    },
    answered: () => flight.landed(),
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
  const answered = flight.take(isShaken ? 1 : IN_FLIGHT_MAX);
  const mayClaim = !state.stopping && !(isShaken && answered.length > 0);
  const room = mayClaim ? IN_FLIGHT_MAX - flight.size() - answered.length : 0;
  let places: DuePlace[] = [];
  try {
    places = room > 0 ? await placesOf(state, now) : [];
    const facts = await roundOf(state, { answered, places, room });
    state.isShaken = false;
    return facts;
  } catch (error) {
    state.isShaken = true;
    const [only] = places;
    if (only && answered.length + places.length === 1) state.avoided.set(only.projectId, now + AVOIDED_MS);
    // An answer that can never be recorded counts as lost when its lease expires.
    if (!isShaken || !isHopeless(error)) flight.giveBack(answered);
    throw error;
  }
}

function isHopeless(error: unknown): boolean {
  return isPoisonous(error) || error instanceof TypeError || error instanceof RangeError;
}

async function placesOf({ options: { db }, isShaken, avoided }: State, now: number): Promise<DuePlace[]> {
  for (const [projectId, until] of avoided) if (until <= now) avoided.delete(projectId);
  const places = await duePlaces(db, { work: 'webhooks', now: new Date(now), limit: PLACES_MAX });
  const open = places.filter(({ projectId }) => !avoided.has(projectId));
  return isShaken ? open.slice(0, 1) : open;
}

type Given = { answered: FinishedAttempt[]; places: DuePlace[]; room: number };

async function roundOf(
  { options: { db, log }, flight }: State,
  { answered, places, room }: Given,
): Promise<RoundFacts> {
  const lateMs = Math.max(0, ...places.slice(0, 1).map(({ nextAt }) => db.clock.now() - nextAt.getTime()));
  if (answered.length === 0 && places.length === 0) return { recorded: 0, claimed: 0, lateMs };
  const projectIds = places.map(({ projectId }) => projectId);
  const { claimed, lost, events } = await runRound(db, { answered, projectIds, room });
  for (const leaving of claimed) flight.begin(leaving);
  if (lost > 0) log.warn({ deliveries: lost }, 'webhooks.lease_expired');
  for (const event of events) report(log, event);
  return { recorded: answered.length, claimed: claimed.length, lateMs };
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
  begin(leaving: Leaving): void;
  /** Removes and returns at most `most` answers, for recording. */
  take(most: number): FinishedAttempt[];
  /** Returns answers to the queue because they could not be recorded. */
  giveBack(answered: FinishedAttempt[]): void;
  size(): number;
  /** Resolves when all requests in flight are answered. */
  landed(): Promise<void>;
  /** Stops waiting for answers. A later answer is ignored. */
  abandon(): void;
};

function createFlight(deps: PostDeps, onAnswer: () => void): Flight {
  const posted = new Map<Leaving, Promise<void>>();
  let answered: FinishedAttempt[] = [];
  return {
    begin(leaving) {
      const done = post(deps, leaving).then((answer) => {
        // An abandoned request already has its result.
        if (!posted.delete(leaving)) return;
        answered.push({ delivery: leaving, answer });
        onAnswer();
      });
      posted.set(leaving, done);
    },
    take: (most) => answered.splice(0, most),
    giveBack(untold) {
      answered = [...untold, ...answered];
    },
    size: () => posted.size + answered.length,
    async landed() {
      await Promise.all(posted.values());
    },
    abandon() {
      const endedAt = deps.clock.now();
      for (const delivery of posted.keys()) answered.push({ delivery, answer: { kind: 'stopped', endedAt } });
      posted.clear();
    },
  };
}
