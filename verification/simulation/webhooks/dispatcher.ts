/** Models `modules/webhooks/dispatch` over rows in memory. A round is one commit, and its claims are requested after it. */

import { TRIES_MAX } from '../../../packages/server/src/modules/webhooks/deliveries/schedule.ts';
import {
  type FinishedAttempt,
  isSuccess,
} from '../../../packages/server/src/modules/webhooks/dispatch/answer.ts';
import type { Owner, Schedule, Task } from '../schedule.ts';
import type { EndpointResponse, WebhookWatch } from './checks.ts';
import type { Product } from './product.ts';
import { deliveriesOf, type Delivery, type Endpoint, inFlight, keyOf, type Store } from './store.ts';

export type Stage = {
  schedule: Schedule;
  product: Product;
  store: Store;
  watch: WebhookWatch;
  /** The response of an endpoint, and how long it takes. */
  request: (endpoint: Endpoint) => { ms: number; answer: EndpointResponse };
};

const LEASE_MS = 30_000;
const CAPACITY = 12;
const RESERVED = 3;
const GONE = 410;

export function* dispatch(stage: Stage, owner: Owner): Task {
  const { schedule } = stage;
  const answers: FinishedAttempt[] = [];
  const inFlightCount = { count: 0 };
  for (;;) {
    const recorded = answers.splice(0);
    const claimed = round(stage, owner, {
      answers: recorded,
      capacity: CAPACITY - inFlightCount.count - recorded.length,
    });
    // If the commit gets no response, its claims are lost until their lease ends.
    if (claimed.length > 0 && schedule.random.chance(0.04))
      yield { action: 'claimed, and lost the response' };
    else {
      inFlightCount.count += claimed.length;
      for (const item of claimed)
        schedule.spawn(owner, post(stage, owner, { ...item, answers, inFlightCount }));
    }
    const isIdle = claimed.length + recorded.length === 0;
    yield {
      action: `claimed ${claimed.length}, recorded ${recorded.length}`,
      until: isIdle ? nextWakeUp(stage) : schedule.now(),
    };
  }
}

/** An approximate alarm: an error in it costs a round without work. */
function nextWakeUp({ schedule, store }: Stage): number {
  const soonest = schedule.now() + 100;
  let next = schedule.now() + 10 * 60_000;
  for (const { id, health, disabledAt, perSecond } of store.endpoints.values()) {
    const tokenAt = health.refilledAt + Math.max(0, ((1 - health.tokens) / perSecond) * 1_000);
    for (const { state, nextAt } of deliveriesOf(store, id)) {
      if (nextAt === null) continue;
      const at =
        state === 'pending' && disabledAt === null
          ? Math.max(nextAt, health.openUntil ?? 0, tokenAt)
          : nextAt;
      next = Math.min(next, at);
    }
  }
  return Math.ceil(Math.max(soonest, next));
}

type ClaimedDelivery = { delivery: Delivery; number: number; tries: number };

function round(
  stage: Stage,
  owner: Owner,
  { answers, capacity }: { answers: FinishedAttempt[]; capacity: number },
): ClaimedDelivery[] {
  const { store, schedule } = stage;
  const now = schedule.clockOf(owner);
  for (const item of answers.toSorted((a, b) => a.result.endedAt - b.result.endedAt)) record(stage, item);
  expireLeases(stage, now);
  const requests = [...store.endpoints.values()].flatMap((endpoint) => requestOf(stage, endpoint, now) ?? []);
  const shares = stage.product.shareCapacities(requests, {
    total: Math.max(0, capacity),
    reserved: RESERVED,
  });
  return shares.flatMap(({ endpoint, due, most }) =>
    due.slice(0, most).map((delivery) => claim(stage, { endpoint, delivery, now })),
  );
}

function requestOf(
  { store, product }: Stage,
  endpoint: Endpoint,
  now: number,
): { endpoint: Endpoint; due: Delivery[]; inFlight: number; most: number } | null {
  const due = deliveriesOf(store, endpoint.id)
    .filter(({ state, nextAt }) => state === 'pending' && nextAt !== null && nextAt <= now)
    .toSorted((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0) || (a.webhookId < b.webhookId ? -1 : 1));
  if (endpoint.disabledAt !== null) {
    for (const delivery of deliveriesOf(store, endpoint.id))
      if (delivery.state === 'pending') put(store, { ...delivery, state: 'missed', nextAt: null });
    return null;
  }
  const inFlightCount = inFlight(store, endpoint.id);
  const health = product.refill(endpoint.health, endpoint, now);
  const most = Math.min(
    due.length,
    product.mayClaim(health, { limits: endpoint, inFlight: inFlightCount, now }),
  );
  return { endpoint, due, inFlight: inFlightCount, most };
}

/** Writes the attempt and spends a token. Only then is the request sent. */
function claim(
  { store, product, watch }: Stage,
  { endpoint, delivery, now }: { endpoint: Endpoint; delivery: Delivery; now: number },
): ClaimedDelivery {
  const current = store.endpoints.get(endpoint.id) ?? endpoint;
  const refilled = product.refill(current.health, endpoint, now);
  store.endpoints.set(endpoint.id, { ...current, health: { ...refilled, tokens: refilled.tokens - 1 } });
  const attempts = [...delivery.attempts, { startedAt: now, endedAt: null, status: null, error: null }];
  const tries = delivery.tries + 1;
  const claimed: Delivery = { ...delivery, state: 'delivering', tries, nextAt: now + LEASE_MS, attempts };
  put(store, claimed);
  watch.claimed({ endpoint: current, delivery, now });
  return { delivery: claimed, number: attempts.length, tries };
}

function put(store: Store, delivery: Delivery): void {
  store.deliveries.set(keyOf(delivery), delivery);
}

function expireLeases({ store, watch }: Stage, now: number): void {
  for (const delivery of store.deliveries.values()) {
    if (delivery.state !== 'delivering' || delivery.nextAt === null || delivery.nextAt > now) continue;
    watch.lost(delivery.endpointId, now);
    const hasTriesLeft = delivery.tries < TRIES_MAX;
    const attempts = delivery.attempts.map((attempt, i) =>
      i === delivery.attempts.length - 1
        ? endAttempt(attempt, { at: now, status: null, error: 'lost' })
        : attempt,
    );
    put(store, {
      ...delivery,
      attempts,
      state: hasTriesLeft ? 'pending' : 'exhausted',
      nextAt: hasTriesLeft ? now : null,
    });
  }
}

function endAttempt(
  attempt: Delivery['attempts'][number],
  { at, status, error }: { at: number; status: number | null; error: string | null },
): Delivery['attempts'][number] {
  return attempt.endedAt === null ? { ...attempt, endedAt: at, status, error } : attempt;
}

function record({ store, product, watch }: Stage, attempt: FinishedAttempt): void {
  const { delivery: key, result: answer } = attempt;
  const endpoint = store.endpoints.get(key.endpointId);
  const delivery = store.deliveries.get(keyOf(key));
  if (!endpoint || !delivery) throw new Error('this simulation deletes nothing');
  const result = product.resultOf(attempt);
  const attempts = delivery.attempts.map((attempt, i) =>
    i === result.number - 1
      ? endAttempt(attempt, { at: result.endedAt, status: result.status, error: result.error })
      : attempt,
  );
  const isAwaited = product.isAwaited(delivery, result.number);
  const change = isAwaited ? { state: result.state, nextAt: result.nextAt } : {};
  put(store, { ...delivery, attempts, ...change });
  if (isAwaited) watch.recorded({ before: delivery, after: result, attempt });
  const isGone = answer.kind === 'answered' && answer.status === GONE;
  const { health, event } = product.applySample(endpoint.health, {
    at: answer.endedAt,
    ok: isSuccess(answer),
    isGone,
  });
  const isDisabled = event === 'gone' || event === 'failing';
  store.endpoints.set(endpoint.id, {
    ...endpoint,
    health,
    disabledAt: endpoint.disabledAt ?? (isDisabled ? answer.endedAt : null),
  });
  watch.sampled(store.endpoints.get(endpoint.id) ?? endpoint, { ok: isSuccess(answer), at: answer.endedAt });
}

type Post = ClaimedDelivery & { answers: FinishedAttempt[]; inFlightCount: { count: number } };

function* post(stage: Stage, owner: Owner, { delivery, number, tries, answers, inFlightCount }: Post): Task {
  const { schedule, store, watch } = stage;
  const endpoint = store.endpoints.get(delivery.endpointId);
  if (!endpoint) throw new Error('this simulation deletes nothing');
  yield { action: `posts to ${delivery.endpointId}: ${delivery.webhookId}, attempt ${number}` };
  const { ms, answer } = stage.request(endpoint);
  watch.posted({ delivery, number, answer });
  yield { action: `waits for ${delivery.endpointId}`, until: schedule.now() + ms };
  const { endpointId, webhookId } = delivery;
  const delivered = { projectId: 1, endpointId, webhookId, number, tries, url: '', body: '' };
  answers.push({ delivery: delivered, result: { ...answer, endedAt: schedule.clockOf(owner) } });
  inFlightCount.count -= 1;
}
