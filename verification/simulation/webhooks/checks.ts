import type { DeliveryResult } from '../../../packages/server/src/modules/webhooks/deliveries/webhook.ts';
import type { FinishedAttempt } from '../../../packages/server/src/modules/webhooks/dispatch/answer.ts';
import { DELAYS_MS, TRIES_MAX } from '../../../packages/server/testing/oracles/webhook-schedule.ts';
import { must } from '../emails/checks.ts';
import { deliveriesOf, type Delivery, type Endpoint, inFlight, keyOf, type Store } from './store.ts';

/** The response of an endpoint to a request, before any clock dates it. */
export type EndpointResponse =
  | { kind: 'answered'; status: number; retryAfter: string | null; text: string }
  | { kind: 'failed'; error: string; text: string };

/** The invariants, counted from what happened. */
export type WebhookWatch = {
  claimed(facts: { endpoint: Endpoint; delivery: Delivery; now: number }): void;
  posted(facts: { delivery: Delivery; number: number; answer: EndpointResponse }): void;
  recorded(facts: { before: Delivery; after: DeliveryResult; attempt: FinishedAttempt }): void;
  /** The result of one of its attempts was lost. */
  lost(endpointId: string, now: number): void;
  sampled(endpoint: Endpoint, result: { ok: boolean; at: number }): void;
  wasAnswered(delivery: Delivery): boolean;
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PROBE_INTERVAL_MS = 30 * SECOND;
const FAILURES = 10;

type Record = {
  claims: number[];
  failures: number[];
  lastOkAt: number;
  trippedAt: number | null;
  lostAt: number;
};

export function watchWebhooks(store: Store, skewMs: number): WebhookWatch {
  const records = new Map<string, Record>();
  const answered = new Set<string>();
  const plannedAt = new Map<string, number>();
  const recordOf = (id: string): Record => {
    const known = records.get(id) ?? {
      claims: [],
      failures: [],
      lastOkAt: -Infinity,
      trippedAt: null,
      lostAt: -Infinity,
    };
    records.set(id, known);
    return known;
  };
  return {
    claimed({ endpoint, delivery, now }) {
      const record = recordOf(endpoint.id);
      must(endpoint.disabledAt === null, `${endpoint.id} was requested although it is disabled`);
      must(
        now >= (plannedAt.get(keyOf(delivery)) ?? 0) - 2 * skewMs,
        `${keyOf(delivery)} was attempted too soon`,
      );
      record.claims.push(now);
      mustBeWithinRate(endpoint, record.claims, skewMs);
      mustBeSpared(endpoint, record, now - PROBE_INTERVAL_MS + 2 * skewMs);
    },
    posted({ delivery, number, answer }) {
      const attempt = store.deliveries.get(keyOf(delivery))?.attempts[number - 1];
      must(attempt !== undefined, `${keyOf(delivery)} was posted without a recorded attempt`);
      if (answer.kind === 'answered' && answer.status === 200) answered.add(keyOf(delivery));
    },
    recorded({ before, after }) {
      mustFollowSchedule(before, after);
      if (after.state === 'pending' && after.nextAt !== null) plannedAt.set(keyOf(before), after.nextAt);
    },
    lost(endpointId, now) {
      recordOf(endpointId).lostAt = now;
    },
    sampled({ id }, { ok, at }) {
      const record = recordOf(id);
      if (ok) Object.assign(record, { failures: [], lastOkAt: at, trippedAt: null });
      else record.failures.push(at);
      // The result of a request may be recorded long after those of later requests.
      const latest = Math.max(at, ...record.failures);
      const recent = record.failures.filter((failedAt) => failedAt > latest - 4 * MINUTE);
      if (recent.length >= FAILURES && record.lastOkAt < latest - 6 * MINUTE)
        record.trippedAt ??= record.claims.length;
    },
    wasAnswered: (delivery) => answered.has(keyOf(delivery)),
  };
}

/** From any claim to the last one at most a burst plus the rate for that time is allowed. */
function mustBeWithinRate({ id, perSecond }: Endpoint, claims: number[], skewMs: number): void {
  const last = claims.at(-1) ?? 0;
  for (let i = claims.length - 1, count = 1; i >= Math.max(0, claims.length - 50); i -= 1, count += 1) {
    const ms = last - (claims[i] ?? 0) + 2 * skewMs;
    const max = Math.max(1, perSecond) + (ms * perSecond) / SECOND + 1e-3;
    must(count <= max, `${id} was requested ${count} times within ${ms} ms`);
  }
}

/** After this many failures without a success for long, at most one request per half minute may test the endpoint. */
function mustBeSpared({ id }: Endpoint, { claims, trippedAt, lostAt }: Record, since: number): void {
  if (trippedAt === null) return;
  const recent = claims.slice(trippedAt).filter((at) => at > since);
  // A process that is silent for a whole lease may be followed by another, and its result still counts.
  const max = lostAt > since - PROBE_INTERVAL_MS ? 2 : 1;
  must(
    recent.length <= max,
    `${id} fails all the time, and was requested ${recent.length} times within half a minute`,
  );
}

function mustFollowSchedule(
  before: Delivery,
  { state, nextAt, endedAt, status, error }: DeliveryResult,
): void {
  const name = keyOf(before);
  if (state === 'delivered')
    return must(status === 200, `${name} counts as delivered, but was answered ${status}`);
  const delay = DELAYS_MS[before.tries - 1];
  if (state === 'exhausted')
    return must(before.tries === TRIES_MAX, `${name} was exhausted after ${before.tries} tries`);
  must(state === 'pending' && nextAt !== null, `${name} failed, and became ${state}`);
  must(delay !== undefined, `${name} is to be tried more often than the schedule allows`);
  const ms = (nextAt ?? 0) - endedAt;
  const isWithin = ms >= 0.8 * (delay ?? 0) - 1 && ms <= 2 * 1.2 * (delay ?? 0) + 1;
  must(isWithin, `${name} is tried again in ${ms} ms after try ${before.tries} (${status ?? error})`);
}

/** Runs after every step. */
export function checkRows(store: Store): void {
  for (const { id, inFlightMax, health } of store.endpoints.values()) {
    must(inFlight(store, id) <= inFlightMax, `${id} has too many requests in flight`);
    must(health.tokens > -1e-3, `${id} has negative tokens`);
  }
  for (const delivery of store.deliveries.values()) {
    const { state, nextAt, tries } = delivery;
    const waits = state === 'pending' || state === 'delivering';
    must(waits === (nextAt !== null), `${keyOf(delivery)} is ${state}, and due ${nextAt}`);
    must(tries <= TRIES_MAX, `${keyOf(delivery)} was tried ${tries} times`);
  }
}

export function checkEnd(store: Store, watch: WebhookWatch): void {
  for (const { id, disabledAt } of store.endpoints.values()) {
    for (const delivery of deliveriesOf(store, id)) {
      const { state, attempts } = delivery;
      if (state === 'delivered') must(watch.wasAnswered(delivery), `${keyOf(delivery)} counts as delivered`);
      if (state === 'exhausted')
        must(attempts.length >= TRIES_MAX, `${keyOf(delivery)} was exhausted too soon`);
      if (state === 'missed')
        must(disabledAt !== null, `${keyOf(delivery)} was missed by an enabled endpoint`);
      must(state !== 'pending' && state !== 'delivering', `${keyOf(delivery)} is ${state} at the end`);
    }
  }
}
