import type { FailpointHook } from '../../../platform/failpoints.ts';
import { type EndpointState, listLiveSecrets, lockEndpoints, lockFreeEndpoints } from '../endpoints/reads.ts';
import { applySample, mayClaim, refill } from '../endpoints/health.ts';
import { type EncryptedSecret, updateDisabled, updateHealth } from '../endpoints/store.ts';
import { setTimers } from '../../../platform/locks/timers.ts';
import { lockTimers } from '../../../platform/locks/store.ts';
import { claimDeliveries, dropPending, loseLeases, updateResults } from '../deliveries/store.ts';
import type { ClaimedDelivery, EndpointCapacity } from '../deliveries/webhook.ts';
import { listLoads, nextWorkTimes } from '../deliveries/reads.ts';
import { TRIES_MAX } from '../deliveries/schedule.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type BatchTx, inSession } from '../../../platform/db/session-transactions.ts';
import { type FinishedAttempt, isSuccess, isInconclusive, deliveryResult } from './answer.ts';
import { shareCapacities } from './share-quota.ts';

export type RoundInput = {
  attempts: FinishedAttempt[];
  /** Projects with due deliveries. */
  projectIds: number[];
  /** The maximum number to claim. */
  capacity: number;
};
export type RoundResult = {
  claimed: OutgoingDelivery[];
  lost: number;
  /** Changes of endpoints that members are notified of. */
  events: EndpointEvent[];
};
export type OutgoingDelivery = ClaimedDelivery & { secrets: EncryptedSecret[] };
export type EndpointEvent = EndpointState & { event: 'gone' | 'failing' | 'warned' | 'opened' | 'closed' };

/** Longer than a request can take, including recording its result under load. A killed process holds up its endpoints for this long. */
export const LEASE_MS = 30_000;
/** Number of in-flight slots reserved for endpoints with few requests in flight. */
const RESERVED = 200;
/** Maximum number of deliveries of disabled endpoints dropped in one round. */
const DROPPED_MAX = 1_000;

/**
 * Runs a round in one transaction with a fixed number of statements. It records answers and updates the health of endpoints.
 * It claims the due deliveries of the given projects, as far as quotas, tokens and circuit breakers allow. The caller sends the claimed
 * deliveries after the commit.
 *
 * Lock order: endpoints in id order, each after its health row; then deliveries; then due times. An endpoint locked by another process is
 * waited for only if an answer is recorded for it.
 */
export function runRound(
  db: Pick<Database, 'session' | 'clock' | 'failpoint'>,
  input: RoundInput,
): Promise<RoundResult> {
  return inSession(db, async (tx) => {
    const round: Round = { tx, now: db.clock.now(), input, failpoint: db.failpoint };
    const { states, free, events } = await record(round);
    if (input.attempts.length > 0) db.failpoint?.('webhooks_recorded');
    const enabled = free.filter(({ endpoint }) => endpoint.disabledAt === null);
    const { capacities, lost } = await findCapacities(round, { free, enabled });
    const [claimed, secrets] = await Promise.all([
      capacities.length > 0
        ? claimDeliveries(tx, { capacities, now: round.now, leaseUntil: round.now + LEASE_MS })
        : [],
      capacities.length > 0 ? listLiveSecrets(tx, { keys: capacities, now: round.now }) : [],
    ]);
    if (claimed.length > 0) db.failpoint?.('webhooks_claimed');
    await finish(round, { changed: spend(round, { states, enabled, claimed }) });
    db.failpoint?.('webhooks_committed');
    const secretsOf = Map.groupBy(secrets, ({ endpointId }) => endpointId);
    const deliveries = claimed.map((delivery) => ({
      ...delivery,
      secrets: secretsOf.get(delivery.endpointId) ?? [],
    }));
    return { claimed: deliveries, lost, events };
  });
}

type Round = { tx: BatchTx; now: number; input: RoundInput; failpoint: FailpointHook | undefined };
type Recorded = {
  /** Endpoints with a recorded answer. */
  states: EndpointState[];
  /** Endpoints of the projects with due deliveries. */
  free: EndpointState[];
  events: EndpointEvent[];
};

async function record({ tx, now, input: { attempts, projectIds } }: Round): Promise<Recorded> {
  const deliveries = [...new Map(attempts.map(({ delivery }) => [delivery.endpointId, delivery])).values()];
  const [locked, free] = await Promise.all([
    deliveries.length > 0 ? lockEndpoints(tx, deliveries) : [],
    projectIds.length > 0 ? lockFreeEndpoints(tx, projectIds) : [],
    attempts.length > 0 ? updateResults(tx, attempts.map(deliveryResult)) : undefined,
  ]);
  const events: EndpointEvent[] = [];
  const attemptsByEndpoint = Map.groupBy(attempts, ({ delivery }) => delivery.endpointId);
  const states = locked.map((state) => {
    const received = attemptsByEndpoint.get(state.endpoint.id) ?? [];
    return applyAttempts(state, { attempts: received, now }, (event) => events.push(event));
  });
  await Promise.all(
    events.flatMap(({ endpoint: { projectId, id: endpointId, disabledAt }, event }) =>
      disabledAt !== null && (event === 'gone' || event === 'failing')
        ? updateDisabled(tx, { projectId, endpointId, at: disabledAt, reason: event })
        : [],
    ),
  );
  const stateById = new Map(states.map((state) => [state.endpoint.id, state]));
  return { states, free: free.map((state) => stateById.get(state.endpoint.id) ?? state), events };
}

/** Updates the health of endpoints by their answers. A stopped or lost worker, or a stale connection, does not count. */
function applyAttempts(
  state: EndpointState,
  { attempts, now }: { attempts: FinishedAttempt[]; now: number },
  report: (event: EndpointEvent) => void,
): EndpointState {
  let { endpoint, health } = state;
  for (const { result } of attempts.toSorted((a, b) => a.result.endedAt - b.result.endedAt)) {
    if (isInconclusive(result)) continue;
    const isGone = result.kind === 'answered' && result.status === GONE;
    const change = applySample(health, { at: result.endedAt, ok: isSuccess(result), isGone });
    const { event } = change;
    // A warning is dated now, because an answer may have waited while members were notified of other endpoints.
    health = event === 'warned' ? { ...change.health, warnedAt: now } : change.health;
    if (event === null || endpoint.disabledAt !== null) continue;
    if (event === 'gone' || event === 'failing')
      endpoint = { ...endpoint, disabledAt: now, disabledReason: event };
    report({ endpoint, health, event });
  }
  return { endpoint, health };
}

const GONE = 410;

type FreeEndpoints = { free: EndpointState[]; enabled: EndpointState[] };

async function findCapacities(
  { tx, now, input }: Round,
  { free, enabled }: FreeEndpoints,
): Promise<{ capacities: EndpointCapacity[]; lost: number }> {
  if (free.length === 0) return { capacities: [], lost: 0 };
  const disabled = free.filter(({ endpoint }) => endpoint.disabledAt !== null);
  const open = enabled
    .map((state) => ({
      ...endpointKey(state),
      most: Math.min(input.capacity, mostOf(state, { inFlight: 0, now })),
    }))
    .filter(({ most }) => most > 0);
  const [lost, loads] = await Promise.all([
    loseLeases(tx, { keys: free.map(endpointKey), now, triesMax: TRIES_MAX }),
    open.length > 0 ? listLoads(tx, open, now) : [],
    disabled.length > 0
      ? dropPending(tx, { keys: disabled.map(endpointKey), state: 'missed', limit: DROPPED_MAX })
      : 0,
  ]);
  const states = new Map(enabled.map((state) => [state.endpoint.id, state]));
  const demands = loads.map(({ inFlight, due, ...key }) => {
    const state = states.get(key.endpointId);
    return { ...key, inFlight, most: state ? Math.min(due, mostOf(state, { inFlight, now })) : 0 };
  });
  return { capacities: shareCapacities(demands, { total: input.capacity, reserved: RESERVED }), lost };
}

function mostOf(
  { endpoint: limits, health }: EndpointState,
  { inFlight, now }: { inFlight: number; now: number },
): number {
  return mayClaim(refill(health, limits, now), { limits, inFlight, now });
}

function endpointKey({ endpoint: { projectId, id } }: EndpointState): {
  projectId: number;
  endpointId: string;
} {
  return { projectId, endpointId: id };
}

type SpendInput = Pick<Recorded, 'states'> & { enabled: EndpointState[]; claimed: ClaimedDelivery[] };

/** Returns every endpoint whose health changed; each request costs a token. */
function spend({ now }: Round, { states, enabled, claimed }: SpendInput): EndpointState[] {
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
async function finish(
  { tx, input, failpoint }: Round,
  { changed }: { changed: EndpointState[] },
): Promise<void> {
  const ids = [...input.projectIds, ...input.attempts.map(({ delivery }) => delivery.projectId)];
  const projectIds = [...new Set(ids)];
  const [times] = await Promise.all([
    lockNextWorkTimes(tx, projectIds),
    changed.length > 0
      ? updateHealth(
          tx,
          changed.map((state) => ({ ...endpointKey(state), health: state.health })),
        )
      : undefined,
  ]);
  const timers = projectIds.map((projectId) => {
    const at = times.get(projectId);
    return { projectId, nextAt: at === undefined ? null : new Date(at) };
  });
  failpoint?.('webhooks_committing');
  await Promise.all([setTimers(tx, 'webhooks', timers), tx.commit()]);
}

async function lockNextWorkTimes(tx: BatchTx, projectIds: number[]): Promise<Map<number, number>> {
  await lockTimers(tx, 'webhooks', projectIds);
  return nextWorkTimes(tx, projectIds);
}
