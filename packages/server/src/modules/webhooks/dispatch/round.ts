import type { FailpointHook } from '../../../platform/failpoints.ts';
import { type EndpointState, listLiveSecrets, lockEndpoints, lockFreeEndpoints } from '../endpoints/reads.ts';
import { judge, mayClaim, refill } from '../endpoints/health.ts';
import { type SealedSecret, updateDisabled, updateHealth } from '../endpoints/store.ts';
import { duesNext, holdDues } from '../../../platform/locks/timers.ts';
import { claimDeliveries, dropPending, loseLeases, updateResults } from '../deliveries/store.ts';
import type { ClaimedDelivery, Room } from '../deliveries/webhook.ts';
import { listLoads, nextLooks } from '../deliveries/reads.ts';
import { TRIES_MAX } from '../deliveries/schedule.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type BatchTx, inSession } from '../../../platform/db/session-transactions.ts';
import { type FinishedAttempt, isGood, isNoWord, resultOf } from './answer.ts';
import { shareRooms } from './share-quota.ts';

/**
 * Runs a round in one transaction with a fixed number of statements. It records answers, judges endpoints by them, and claims the due
 * deliveries of the given projects, as far as quotas, tokens and circuit breakers allow. The caller sends the claimed deliveries after the
 * commit.
 *
 * Lock order: endpoints in id order, each after its health row; then deliveries; then due times. An endpoint locked by another process is
 * waited for only if an answer is recorded for it.
 */
export type RoundAsked = {
  answered: FinishedAttempt[];
  /** Projects with due deliveries. */
  projectIds: number[];
  /** The maximum number to claim. */
  room: number;
};
export type RoundDone = {
  claimed: Leaving[];
  lost: number;
  /** Changes of endpoints that members are notified of. */
  events: EndpointEvent[];
};
export type Leaving = ClaimedDelivery & { secrets: SealedSecret[] };
export type EndpointEvent = EndpointState & { event: 'gone' | 'failing' | 'warned' | 'opened' | 'closed' };

/** Longer than a request can take, including recording its result under load. A killed process holds up its endpoints for this long. */
export const LEASE_MS = 30_000;
/** Number of in-flight slots reserved for endpoints with few requests in flight. */
const RESERVED = 200;
/** Maximum number of deliveries of disabled endpoints dropped in one round. */
const DROPPED_MAX = 1_000;

export function runRound(
  db: Pick<Database, 'session' | 'clock' | 'reach'>,
  asked: RoundAsked,
): Promise<RoundDone> {
  return inSession(db, async (tx) => {
    const round: Round = { tx, now: db.clock.now(), asked, reach: db.reach };
    const { states, free, events } = await record(round);
    if (asked.answered.length > 0) db.reach?.('tell_recorded');
    const enabled = free.filter(({ endpoint }) => endpoint.disabledAt === null);
    const { rooms, lost } = await findRooms(round, { free, enabled });
    const [claimed, secrets] = await Promise.all([
      rooms.length > 0
        ? claimDeliveries(tx, { rooms, now: round.now, leaseUntil: round.now + LEASE_MS })
        : [],
      rooms.length > 0 ? listLiveSecrets(tx, { places: rooms, now: round.now }) : [],
    ]);
    if (claimed.length > 0) db.reach?.('webhooks_claimed');
    await finish(round, { changed: spend(round, { states, enabled, claimed }) });
    db.reach?.('tell_committed');
    const secretsOf = Map.groupBy(secrets, ({ endpointId }) => endpointId);
    const leaving = claimed.map((one) => ({ ...one, secrets: secretsOf.get(one.endpointId) ?? [] }));
    return { claimed: leaving, lost, events };
  });
}

type Round = { tx: BatchTx; now: number; asked: RoundAsked; reach: FailpointHook | undefined };
type Recorded = {
  /** Endpoints with a recorded answer. */
  states: EndpointState[];
  /** Endpoints of the projects with due deliveries. */
  free: EndpointState[];
  events: EndpointEvent[];
};

async function record({ tx, now, asked: { answered, projectIds } }: Round): Promise<Recorded> {
  const places = [...new Map(answered.map(({ delivery }) => [delivery.endpointId, delivery])).values()];
  const [known, free] = await Promise.all([
    places.length > 0 ? lockEndpoints(tx, places) : [],
    projectIds.length > 0 ? lockFreeEndpoints(tx, projectIds) : [],
    answered.length > 0 ? updateResults(tx, answered.map(resultOf)) : undefined,
  ]);
  const events: EndpointEvent[] = [];
  const answeredOf = Map.groupBy(answered, ({ delivery }) => delivery.endpointId);
  const states = known.map((state) => {
    const said = answeredOf.get(state.endpoint.id) ?? [];
    return judgeAll(state, { answered: said, now }, (event) => events.push(event));
  });
  await Promise.all(
    events.flatMap(({ endpoint: { projectId, id: endpointId, disabledAt }, event }) =>
      disabledAt !== null && (event === 'gone' || event === 'failing')
        ? updateDisabled(tx, { projectId, endpointId, at: disabledAt, reason: event })
        : [],
    ),
  );
  const judged = new Map(states.map((state) => [state.endpoint.id, state]));
  return { states, free: free.map((state) => judged.get(state.endpoint.id) ?? state), events };
}

/** Judges endpoints by their answers. A stopped or lost worker, or a stale connection, does not count. */
function judgeAll(
  state: EndpointState,
  { answered, now }: { answered: FinishedAttempt[]; now: number },
  tell: (event: EndpointEvent) => void,
): EndpointState {
  let { endpoint, health } = state;
  for (const { answer } of answered.toSorted((a, b) => a.answer.endedAt - b.answer.endedAt)) {
    if (isNoWord(answer)) continue;
    const isGone = answer.kind === 'answered' && answer.status === GONE;
    const judged = judge(health, { at: answer.endedAt, ok: isGood(answer), isGone });
    const { event } = judged;
    // A warning is dated now, because an answer may have waited while members were notified of other endpoints.
    health = event === 'warned' ? { ...judged.health, warnedAt: now } : judged.health;
    if (event === null || endpoint.disabledAt !== null) continue;
    if (event === 'gone' || event === 'failing')
      endpoint = { ...endpoint, disabledAt: now, disabledReason: event };
    tell({ endpoint, health, event });
  }
  return { endpoint, health };
}

const GONE = 410;

type Free = { free: EndpointState[]; enabled: EndpointState[] };

async function findRooms(
  { tx, now, asked }: Round,
  { free, enabled }: Free,
): Promise<{ rooms: Room[]; lost: number }> {
  if (free.length === 0) return { rooms: [], lost: 0 };
  const disabled = free.filter(({ endpoint }) => endpoint.disabledAt !== null);
  const open = enabled
    .map((state) => ({ ...placeOf(state), most: Math.min(asked.room, mostOf(state, { inFlight: 0, now })) }))
    .filter(({ most }) => most > 0);
  const [lost, loads] = await Promise.all([
    loseLeases(tx, { places: free.map(placeOf), now, triesMax: TRIES_MAX }),
    open.length > 0 ? listLoads(tx, open, now) : [],
    disabled.length > 0
      ? dropPending(tx, { places: disabled.map(placeOf), state: 'missed', limit: DROPPED_MAX })
      : 0,
  ]);
  const states = new Map(enabled.map((state) => [state.endpoint.id, state]));
  const wanted = loads.map(({ inFlight, due, ...place }) => {
    const state = states.get(place.endpointId);
    return { ...place, inFlight, most: state ? Math.min(due, mostOf(state, { inFlight, now })) : 0 };
  });
  return { rooms: shareRooms(wanted, { total: asked.room, reserved: RESERVED }), lost };
}

function mostOf(
  { endpoint: limits, health }: EndpointState,
  { inFlight, now }: { inFlight: number; now: number },
): number {
  return mayClaim(refill(health, limits, now), { limits, inFlight, now });
}

function placeOf({ endpoint: { projectId, id } }: EndpointState): { projectId: number; endpointId: string } {
  return { projectId, endpointId: id };
}

type Spending = Pick<Recorded, 'states'> & { enabled: EndpointState[]; claimed: ClaimedDelivery[] };

/** Returns every endpoint whose health changed; each request costs a token. */
function spend({ now }: Round, { states, enabled, claimed }: Spending): EndpointState[] {
  const changed = new Map(states.map((state) => [state.endpoint.id, state]));
  const claimedOf = Map.groupBy(claimed, ({ endpointId }) => endpointId);
  for (const state of enabled) {
    const count = claimedOf.get(state.endpoint.id)?.length ?? 0;
    if (count === 0) continue;
    const full = refill(state.health, state.endpoint, now);
    changed.set(state.endpoint.id, { ...state, health: { ...full, tokens: full.tokens - count } });
  }
  return [...changed.values()];
}

/** Sets the next due times. A new statement reads them while the due rows are locked, so that no delivery is added in between. */
async function finish({ tx, asked, reach }: Round, { changed }: { changed: EndpointState[] }): Promise<void> {
  const ids = [...asked.projectIds, ...asked.answered.map(({ delivery }) => delivery.projectId)];
  const projectIds = [...new Set(ids)];
  const [looks] = await Promise.all([
    heldLooks(tx, projectIds),
    changed.length > 0
      ? updateHealth(
          tx,
          changed.map((state) => ({ ...placeOf(state), health: state.health })),
        )
      : undefined,
  ]);
  const places = projectIds.map((projectId) => {
    const at = looks.get(projectId);
    return { projectId, nextAt: at === undefined ? null : new Date(at) };
  });
  reach?.('tell_committing');
  await Promise.all([duesNext(tx, 'webhooks', places), tx.commit()]);
}

async function heldLooks(tx: BatchTx, projectIds: number[]): Promise<Map<number, number>> {
  await holdDues(tx, 'webhooks', projectIds);
  return nextLooks(tx, projectIds);
}
