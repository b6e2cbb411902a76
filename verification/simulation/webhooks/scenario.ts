import { newHealth } from '../../../packages/server/src/modules/webhooks/endpoints/health.ts';
import type { Random } from '../../../packages/server/src/modules/operations/demo/random.ts';
import type { Owner, Scenario, Schedule, Task } from '../schedule.ts';
import { checkEnd, checkRows, watchWebhooks } from './checks.ts';
import { PRODUCT, type Product } from './product.ts';
import { type Endpoint, keyOf, type Store } from './store.ts';
import { type Stage, dispatch } from './dispatcher.ts';

const HOUR = 3_600_000;
const WEBHOOKS_MAX = 25;

/** The behavior of an endpoint for a while. */
type Behavior = 'well' | 'slow' | 'ill' | 'away' | 'patient' | 'gone';
type World = { behaviors: Map<string, Behavior>; queued: number; isCalm: boolean };

/** Creates three endpoints, two dispatcher processes, and a source of events. */
export function webhookScenario(product: Product = PRODUCT): (schedule: Schedule) => Scenario {
  return (schedule) => {
    const { random } = schedule;
    const startsAt = Date.parse('2026-03-28T18:00:00Z');
    const skewMs = random.chance(0.3) ? 2_000 : 0;
    const store: Store = { endpoints: endpointsOf(random, startsAt), deliveries: new Map() };
    const watch = watchWebhooks(store, skewMs);
    const world: World = { behaviors: new Map(), queued: 0, isCalm: false };
    const stage: Stage = {
      schedule,
      product,
      store,
      watch,
      request: ({ id }) => answerOf(world.behaviors.get(id) ?? 'well', random),
    };
    return {
      startsAt,
      durationMs: 96 * HOUR,
      steps: 1_200,
      owners: () => ownersOf(stage, world, skewMs),
      check: () => checkRows(store),
      endDisturbances() {
        world.isCalm = true;
        world.behaviors.clear();
      },
      isOver: () => store.deliveries.values().every(({ nextAt }) => nextAt === null),
      end: () => checkEnd(store, watch),
    };
  };
}

function endpointsOf(random: Random, now: number): Map<string, Endpoint> {
  return new Map(
    ['one', 'two', 'three'].map((id) => {
      const perSecond = random.pick([0.1, 1, 5]);
      const inFlightMax = random.whole(1, 4);
      return [id, { id, perSecond, inFlightMax, health: newHealth(perSecond, now), disabledAt: null }];
    }),
  );
}

function ownersOf(stage: Stage, world: World, skewMs: number): Owner[] {
  const dispatcher = (name: string): Owner => {
    const self: Owner = { name, isMortal: true, skewMs, begin: () => dispatch(stage, self) };
    return self;
  };
  const outcomes: Owner = { name: 'outcomes', isMortal: false, skewMs: 0, begin: () => queue(stage, world) };
  const weather: Owner = { name: 'weather', isMortal: false, skewMs: 0, begin: () => change(stage, world) };
  return [dispatcher('dispatcher 1'), dispatcher('dispatcher 2'), outcomes, weather];
}

function* queue({ schedule, store }: Stage, world: World): Task {
  const { random } = schedule;
  while (!world.isCalm && world.queued < WEBHOOKS_MAX) {
    world.queued += 1;
    for (const { id, disabledAt } of store.endpoints.values()) {
      const initial =
        disabledAt === null
          ? { state: 'pending' as const, nextAt: schedule.now() }
          : { state: 'missed' as const, nextAt: null };
      const delivery = { endpointId: id, webhookId: `m${world.queued}`, tries: 0, attempts: [], ...initial };
      store.deliveries.set(keyOf(delivery), delivery);
    }
    const delayMs = random.chance(0.7) ? 0 : Math.round(random.wait(2 * HOUR));
    yield { action: `queued m${world.queued}`, until: schedule.now() + delayMs };
  }
}

const BEHAVIORS: Behavior[] = ['well', 'well', 'slow', 'ill', 'ill', 'away', 'patient', 'gone'];

function* change({ schedule, store }: Stage, world: World): Task {
  const { random } = schedule;
  while (!world.isCalm) {
    const id = random.pick([...store.endpoints.keys()]);
    const behavior = random.pick(BEHAVIORS);
    world.behaviors.set(id, behavior);
    yield { action: `${id} is ${behavior}`, until: schedule.now() + Math.round(random.wait(3 * HOUR)) };
  }
}

function answerOf(behavior: Behavior, random: Random): ReturnType<Stage['request']> {
  const answered = (status: number, retryAfter: string | null = null) =>
    ({ kind: 'answered', status, retryAfter, text: '' }) as const;
  const ms = random.whole(1, 400);
  switch (behavior) {
    case 'well':
      return { ms, answer: answered(200) };
    case 'slow':
      return { ms: random.whole(1_000, 40_000), answer: answered(200) };
    case 'ill':
      return { ms, answer: random.chance(0.9) ? answered(random.pick([301, 404, 500])) : answered(200) };
    case 'away':
      return { ms: 15_000, answer: { kind: 'failed', error: 'timeout', text: '' } };
    case 'patient':
      return { ms, answer: answered(503, random.pick(['0', '99999999', '-1', 'soon', '3600'])) };
    case 'gone':
      return { ms, answer: answered(random.chance(0.2) ? 410 : 500) };
  }
}
