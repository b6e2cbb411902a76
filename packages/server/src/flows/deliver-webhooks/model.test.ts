import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ANSWERS, type Mode, newModel, type WebhookModel } from '../../../testkit/webhook-model.ts';
import { webhookStage } from '../../../testkit/webhooks.ts';
import { replayWebhooks } from '../replay-webhooks.ts';
import { disableEndpoint, enableEndpoint } from '../webhook-endpoints.ts';

/**
 * Random histories of what an endpoint answers, of time, of people who disable, enable and replay, against the rules in
 * their plainest form: every delivery has the state, and every attempt of it the moment and the result, that they say.
 */
const stage = await webhookStage();
const { db, clock, hooks } = stage;
afterAll(() => stage.close());

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Moments are whole milliseconds here, and finer in the database. */
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

test('whatever happens, deliveries are what the rules say', { timeout: 120_000 }, async () => {
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
      hooks.answer(() => ANSWERS[model.mode]);
      for (const act of history) {
        await perform(act, { projectId, endpointId, model });
        await compare(projectId, model);
      }
    }),
    { numRuns: 40 },
  );
});

type Place = { projectId: number; endpointId: string; model: WebhookModel };

async function perform(act: Act, { projectId, endpointId, model }: Place): Promise<void> {
  const place = { projectId, endpointId };
  if (act.act === 'queue') model.queue(await stage.queue(projectId, act.count), clock.now());
  if (act.act === 'answer') model.mode = act.mode;
  if (act.act === 'disable') {
    await disableEndpoint({ db }, place);
    model.disable();
  }
  if (act.act === 'enable') {
    await enableEndpoint({ db }, place);
    model.enable();
  }
  if (act.act === 'replay' && !model.isDisabled()) {
    const wanted = {
      projectId,
      endpointId,
      messageId: null,
      since: null,
      until: null,
      states: [act.state],
      history: false,
    };
    const { replayed } = await replayWebhooks(db, wanted);
    expect(replayed).toBe(model.replay(act.state, clock.now()));
  }
  await goOn(act.act === 'later' ? act.ms : 0, model);
}

/** From moment to moment; the model says whether one was slept through. */
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
  const shown = (await stage.deliveries(projectId)).map(({ messageId, state, nextAt, attempts }) => ({
    messageId,
    state,
    nextAt,
    attempts: attempts.map(({ startedAt, status, error }) => ({ at: startedAt, result: status ?? error })),
  }));
  const wanted = new Map(model.deliveries().map((one) => [one.messageId, one]));
  expect(shown).toHaveLength(wanted.size);
  for (const one of shown) expect(wanted.get(one.messageId)).toMatchObject(one);
}
