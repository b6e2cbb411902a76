/** Models `modules/webhooks/dispatch` over rows in memory. A round is one commit, and its claims are requested after it. */

import { TRIES_MAX } from '../../../packages/server/src/modules/webhooks/deliveries/schedule.ts';
import {
  type FinishedAttempt,
  isSuccess,
} from '../../../packages/server/src/modules/webhooks/dispatch/answer.ts';
import type { Owner, Schedule, Task } from '../schedule.ts';
import type { Heard, Watched } from './checks.ts';
import type { Product } from './product.ts';
import { deliveriesOf, type Delivery, type Endpoint, inFlight, keyOf, type Store } from './store.ts';

export type Stage = {
  schedule: Schedule;
  product: Product;
  store: Store;
  watched: Watched;
  /** The response of an endpoint, and how long it takes. */
  ask: (endpoint: Endpoint) => { ms: number; answer: Heard };
};

const LEASE_MS = 30_000;
const ROOM = 12;
const RESERVED = 3;
const GONE = 410;

export function* tell(stage: Stage, owner: Owner): Task {
  const { schedule } = stage;
  const answers: FinishedAttempt[] = [];
  const flying = { count: 0 };
  for (;;) {
    const taken = answers.splice(0);
    const claimed = round(stage, owner, { answered: taken, room: ROOM - flying.count - taken.length });
    // If the commit gets no response, its claims are lost until their lease ends.
    if (claimed.length > 0 && schedule.random.chance(0.04)) yield { did: 'claimed, and forgot' };
    else {
      flying.count += claimed.length;
      for (const one of claimed) schedule.also(owner, post(stage, owner, { ...one, answers, flying }));
    }
    const didNothing = claimed.length + taken.length === 0;
    yield {
      did: `claimed ${claimed.length}, recorded ${taken.length}`,
      until: didNothing ? restUntil(stage) : schedule.now(),
    };
  }
}

/** An approximate alarm: an error in it costs a round without work. */
function restUntil({ schedule, store }: Stage): number {
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

type Leaving = { delivery: Delivery; number: number; tries: number };

function round(
  stage: Stage,
  owner: Owner,
  { answered, room }: { answered: FinishedAttempt[]; room: number },
): Leaving[] {
  const { store, schedule } = stage;
  const now = schedule.clockOf(owner);
  for (const one of answered.toSorted((a, b) => a.result.endedAt - b.result.endedAt)) record(stage, one);
  loseLeases(stage, now);
  const wanted = [...store.endpoints.values()].flatMap((endpoint) => wants(stage, endpoint, now) ?? []);
  const rooms = stage.product.shareRooms(wanted, { total: Math.max(0, room), reserved: RESERVED });
  return rooms.flatMap(({ endpoint, due, most }) =>
    due.slice(0, most).map((delivery) => claim(stage, { endpoint, delivery, now })),
  );
}

function wants(
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
  const flying = inFlight(store, endpoint.id);
  const health = product.refill(endpoint.health, endpoint, now);
  const most = Math.min(due.length, product.mayClaim(health, { limits: endpoint, inFlight: flying, now }));
  return { endpoint, due, inFlight: flying, most };
}

/** Writes the attempt and spends a token. Only then is the request sent. */
function claim(
  { store, product, watched }: Stage,
  { endpoint, delivery, now }: { endpoint: Endpoint; delivery: Delivery; now: number },
): Leaving {
  const present = store.endpoints.get(endpoint.id) ?? endpoint;
  const full = product.refill(present.health, endpoint, now);
  store.endpoints.set(endpoint.id, { ...present, health: { ...full, tokens: full.tokens - 1 } });
  const attempts = [...delivery.attempts, { startedAt: now, endedAt: null, status: null, error: null }];
  const tries = delivery.tries + 1;
  const claimed: Delivery = { ...delivery, state: 'delivering', tries, nextAt: now + LEASE_MS, attempts };
  put(store, claimed);
  watched.claimed({ endpoint: present, delivery, now });
  return { delivery: claimed, number: attempts.length, tries };
}

function put(store: Store, delivery: Delivery): void {
  store.deliveries.set(keyOf(delivery), delivery);
}

function loseLeases({ store, watched }: Stage, now: number): void {
  for (const delivery of store.deliveries.values()) {
    if (delivery.state !== 'delivering' || delivery.nextAt === null || delivery.nextAt > now) continue;
    watched.lost(delivery.endpointId, now);
    const isLeft = delivery.tries < TRIES_MAX;
    const attempts = delivery.attempts.map((one, i) =>
      i === delivery.attempts.length - 1 ? ended(one, { at: now, status: null, error: 'lost' }) : one,
    );
    put(store, {
      ...delivery,
      attempts,
      state: isLeft ? 'pending' : 'exhausted',
      nextAt: isLeft ? now : null,
    });
  }
}

function ended(
  attempt: Delivery['attempts'][number],
  { at, status, error }: { at: number; status: number | null; error: string | null },
): Delivery['attempts'][number] {
  return attempt.endedAt === null ? { ...attempt, endedAt: at, status, error } : attempt;
}

function record({ store, product, watched }: Stage, answered: FinishedAttempt): void {
  const { delivery: asked, result: answer } = answered;
  const endpoint = store.endpoints.get(asked.endpointId);
  const delivery = store.deliveries.get(keyOf(asked));
  if (!endpoint || !delivery) throw new Error('nothing is deleted here');
  const said = product.resultOf(answered);
  const attempts = delivery.attempts.map((one, i) =>
    i === said.number - 1 ? ended(one, { at: said.endedAt, status: said.status, error: said.error }) : one,
  );
  const isWaitedFor = product.isWaitedFor(delivery, said.number);
  const moved = isWaitedFor ? { state: said.state, nextAt: said.nextAt } : {};
  put(store, { ...delivery, attempts, ...moved });
  if (isWaitedFor) watched.recorded({ before: delivery, after: said, answered });
  const isGone = answer.kind === 'answered' && answer.status === GONE;
  const { health, event } = product.judge(endpoint.health, {
    at: answer.endedAt,
    ok: isSuccess(answer),
    isGone,
  });
  const isOut = event === 'gone' || event === 'failing';
  store.endpoints.set(endpoint.id, {
    ...endpoint,
    health,
    disabledAt: endpoint.disabledAt ?? (isOut ? answer.endedAt : null),
  });
  watched.judged(store.endpoints.get(endpoint.id) ?? endpoint, { ok: isSuccess(answer), at: answer.endedAt });
}

type Posting = Leaving & { answers: FinishedAttempt[]; flying: { count: number } };

function* post(stage: Stage, owner: Owner, { delivery, number, tries, answers, flying }: Posting): Task {
  const { schedule, store, watched } = stage;
  const endpoint = store.endpoints.get(delivery.endpointId);
  if (!endpoint) throw new Error('nothing is deleted here');
  yield { did: `asks ${delivery.endpointId} for ${delivery.webhookId}, attempt ${number}` };
  const { ms, answer } = stage.ask(endpoint);
  watched.posted({ delivery, number, answer });
  yield { did: `waits for ${delivery.endpointId}`, until: schedule.now() + ms };
  const { endpointId, webhookId } = delivery;
  const asked = { projectId: 1, endpointId, webhookId, number, tries, url: '', body: '' };
  answers.push({ delivery: asked, result: { ...answer, endedAt: schedule.clockOf(owner) } });
  flying.count -= 1;
}
