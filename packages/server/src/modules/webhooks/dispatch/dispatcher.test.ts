import { afterAll, beforeEach, expect, test } from 'vitest';
import { AGENT, webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { silentLog } from '../../../platform/log.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { startWebhookDispatcher, type WebhookDispatcher } from './dispatcher.ts';

const stage = await webhookStage();
const { db, hooks, encrypter } = stage;
afterAll(() => stage.close());
beforeEach(() => stage.forget());

function startDispatcher(outbound: Pick<Outbound, 'post'> = stage.outbound): WebhookDispatcher {
  return startWebhookDispatcher({ db, log: silentLog, encrypter, outbound, agent: AGENT });
}

test('sends queued deliveries without a wake-up, and at a stop waits for running ones and records them', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/told');
  const gate = Promise.withResolvers<void>();
  hooks.setReply(async () => {
    await gate.promise;
    return { status: 200 };
  });
  const running = startDispatcher();
  await stage.queue(projectId, 3);
  running.wake();
  await expect.poll(() => hooks.open.get('/told')?.now).toBe(3);
  const stopped = running.stop();
  gate.resolve();
  await stopped;
  expect((await stage.deliveries(projectId)).map(({ state }) => state)).toEqual(Array(3).fill('delivered'));
});

test('loses no response during a short outage of the database', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/outage');
  hooks.setReply(() => ({ status: 200 }));
  let isAway = false;
  const failing: typeof db = {
    ...db,
    session: (options) => (isAway ? Promise.reject(new Error('the database is away')) : db.session(options)),
  };
  const outbound: Pick<Outbound, 'post'> = {
    async post(request) {
      isAway = true;
      return stage.outbound.post(request);
    },
  };
  const running = startWebhookDispatcher({ db: failing, log: silentLog, encrypter, outbound, agent: AGENT });
  await stage.queue(projectId);
  await expect.poll(() => hooks.received.filter(({ path }) => path === '/outage')).toHaveLength(1);
  isAway = false;
  const settled = async () =>
    (await stage.deliveries(projectId)).map(({ state, attempts }) => [state, attempts.length]);
  await expect.poll(settled).toEqual([['delivered', 1]]);
  await running.stop();
});
