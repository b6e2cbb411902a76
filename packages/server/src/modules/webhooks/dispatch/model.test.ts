import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  REPLIES,
  type Mode,
  newModel,
  type WebhookModel,
} from '../../../../testing/oracles/webhook-model.ts';
import { webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { replayWebhooks } from '../deliveries/replay.ts';
import { disableEndpoint, enableEndpoint } from '../endpoints/change-endpoint.ts';

/**
 * Compares random histories (answers of an endpoint, time, disabling, enabling and replays) with a plain model of the rules. Every delivery
 * must have the state, and every attempt the time and result, of the model.
 */
const stage = await webhookStage();
const { db, clock, hooks } = stage;
afterAll(() => stage.close());

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Times are whole milliseconds here, but more precise in the database. */
const ROUNDED_MS = 3;

type Act =
  | { act: 'queue'; count: number }
  | { act: 'answer'; mode: Mode }
  | { act: 'later'; ms: number }
  | { act: 'disable' | 'enable' }
  | { act: 'replay'; state: 'missed' | 'exhausted' | 'delivered' };

const acts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('queue' as const), count: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('answer' as const),
      mode: fc.constantFrom<Mode>('200', '500', '500', 'reset', 'patient', '410'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('later' as const),
      ms: fc.constantFrom(1_000, 7_000, 31_000, 10 * MINUTE, 3 * 60 * MINUTE, DAY, 3 * DAY),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('disable' as const, 'enable' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('replay' as const),
      state: fc.constantFrom('missed' as const, 'exhausted' as const, 'delivered' as const),
    }),
  },
);

test('deliveries match the model for any history', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 5, maxLength: 25 }), async (history) => {
      await stage.forget();
      clock.advance(40 * DAY);
      const projectId = await stage.project();
      const { id: endpointId } = await stage.endpoint(projectId, '/model', {
        perSecond: 10_000,
        inFlightMax: 200,
      });
      const model = newModel(endpointId);
      hooks.setReply(() => REPLIES[model.mode]);
      for (const act of history) {
        await perform(act, { projectId, endpointId, model });
        await compare(projectId, model);
      }
    }),
    { numRuns: 40 },
  );
});

type ModelState = { projectId: number; endpointId: string; model: WebhookModel };

async function perform(act: Act, { projectId, endpointId, model }: ModelState): Promise<void> {
  const key = { projectId, endpointId };
  if (act.act === 'queue') model.queue(await stage.queue(projectId, act.count), clock.now());
  if (act.act === 'answer') model.mode = act.mode;
  if (act.act === 'disable') {
    await disableEndpoint({ db }, key);
    model.disable();
  }
  if (act.act === 'enable') {
    await enableEndpoint({ db }, key);
    model.enable();
  }
  if (act.act === 'replay' && !model.isDisabled()) {
    const input = {
      projectId,
      endpointId,
      webhookId: null,
      since: null,
      until: null,
      states: [act.state],
      history: false,
    };
    const { replayed } = await replayWebhooks(db, input);
    expect(replayed).toBe(model.replay(act.state, clock.now()));
  }
  await goOn(act.act === 'later' ? act.ms : 0, model);
}

/** Advances from one due time to the next; the model checks that none is missed. */
async function goOn(ms: number, model: WebhookModel): Promise<void> {
  const until = clock.now() + ms;
  for (;;) {
    await stage.settle();
    model.settle(clock.now());
    const at = await stage.nextAlarm(until);
    if (at === null) break;
    expect(model.nextAt()).toBeGreaterThanOrEqual(at - ROUNDED_MS);
    clock.advance(Math.max(0, at - clock.now()));
  }
  expect(model.nextAt()).toBeGreaterThanOrEqual(until - ROUNDED_MS);
  clock.advance(until - clock.now());
}

async function compare(projectId: number, model: WebhookModel): Promise<void> {
  const actual = (await stage.deliveries(projectId)).map(({ webhookId, state, nextAt, attempts }) => ({
    webhookId,
    state,
    nextAt,
    attempts: attempts.map(({ startedAt, status, error }) => ({ at: startedAt, result: status ?? error })),
  }));
  const expected = new Map(model.deliveries().map((delivery) => [delivery.webhookId, delivery]));
  expect(actual).toHaveLength(expected.size);
  for (const delivery of actual) expect(expected.get(delivery.webhookId)).toMatchObject(delivery);
}
