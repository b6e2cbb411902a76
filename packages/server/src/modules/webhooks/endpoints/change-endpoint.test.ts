import { readWebhookSecret } from '@beckon/contract/signature';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { listEndpoints, listLiveSecrets } from './reads.ts';
import { decryptSecret, reencryptSecrets } from './secrets.ts';
import { forgetWebhooks } from '../deliveries/store.ts';
import { replayWebhooks, type ReplayInput } from '../deliveries/replay.ts';
import { sweepTimers } from '../../processing/sweep-timers.ts';
import {
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointDeps,
  removeEndpoint,
  rotateSecret,
} from './change-endpoint.ts';

const stage = await webhookStage();
const { db, clock, hooks, encrypter } = stage;
afterAll(() => stage.close());
beforeEach(() => stage.forget());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const deps: EndpointDeps = { db, newId: stage.newId, encrypter, rules: { allowPrivate: true } };

async function statesOf(projectId: number): Promise<string[]> {
  return (await stage.deliveries(projectId)).map(({ state }) => state).toSorted();
}

function replay(projectId: number, more: Partial<ReplayInput>): Promise<{ replayed: number }> {
  const all = { endpointId: null, webhookId: null, since: null, until: null, states: [], history: false };
  return replayWebhooks(db, { projectId, ...all, ...more });
}

test('limits a project to ten endpoints, also for concurrent requests', async () => {
  const projectId = await stage.project();
  const added = await Promise.allSettled(
    Array.from({ length: 14 }, () => stage.endpoint(projectId, '/many')),
  );
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(await listEndpoints(db, projectId)).toHaveLength(10);
});

test.each([
  [{ url: 'http://203.0.113.1/' }, 'url'],
  [{ url: 'https://user:word@example.com/' }, 'url'],
  [{ types: ['email.sent'] }, 'types'],
  [{ types: [] }, 'types'],
  [{ description: 'two\nlines' }, 'description'],
  [{ perSecond: 0 }, 'per_second'],
  [{ perSecond: Number.NaN }, 'per_second'],
  [{ inFlightMax: 1.5 }, 'in_flight'],
])('rejects an endpoint with %j, naming the field', async (input, field) => {
  const projectId = await stage.project();
  const refused = { code: 'validation_failed', details: [expect.objectContaining({ field })] };
  await expect(stage.endpoint(projectId, '/', input)).rejects.toMatchObject(refused);
  const { id } = await stage.endpoint(projectId, '/');
  await expect(changeEndpoint(deps, { projectId, endpointId: id }, input)).rejects.toMatchObject(refused);
});

test('applies a new URL to waiting deliveries too', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/before');
  hooks.setReply(({ path }) => ({ status: path === '/after' ? 200 : 500 }));
  await stage.queue(projectId);
  await stage.settle();
  await changeEndpoint(deps, { projectId, endpointId: id }, { url: hooks.url('/after') });
  await stage.advance(10_000);
  expect(hooks.received.map(({ path }) => path)).toEqual(['/before', '/after']);
});

test('stores a secret encrypted, and decrypts it only for its endpoint', async () => {
  const projectId = await stage.project();
  const { id, secret } = await stage.endpoint(projectId, '/encrypted');
  const [encrypted] = await listLiveSecrets(db, { keys: [{ projectId, endpointId: id }], now: clock.now() });
  if (!encrypted) throw new Error('there is no secret');
  const bytes = Buffer.from(readWebhookSecret(secret) ?? []);
  expect(decryptSecret(encrypter, encrypted)).toEqual(bytes);
  expect(encrypted.encrypted.includes(bytes)).toBe(false);
  expect(() => decryptSecret(encrypter, { ...encrypted, endpointId: stage.newId() })).toThrow();
});

test('allows three live secrets, and ends all old ones at once without an overlap', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/three')).id };
  await rotateSecret(deps, key, DAY);
  await rotateSecret(deps, key, DAY);
  await expect(rotateSecret(deps, key, DAY)).rejects.toMatchObject({ code: 'conflict' });
  await expect(rotateSecret(deps, key, 7 * DAY + 1)).rejects.toMatchObject({ code: 'validation_failed' });
  await rotateSecret(deps, key, 0);
  expect(await listLiveSecrets(db, { keys: [key], now: clock.now() })).toHaveLength(1);
});

test('re-encrypts endpoint secrets once for a new secret key of the installation', async () => {
  const projectId = await stage.project();
  const { id, secret } = await stage.endpoint(projectId, '/reencrypted');
  const renewing = createEncrypter('the next one', 'a secret of this test alone', 'test');
  expect(await reencryptSecrets(db, { encrypter: renewing, log: silentLog })).toBeGreaterThan(0);
  expect(await reencryptSecrets(db, { encrypter: renewing, log: silentLog })).toBe(0);
  const [encrypted] = await listLiveSecrets(db, { keys: [{ projectId, endpointId: id }], now: clock.now() });
  if (!encrypted) throw new Error('there is no secret');
  const onlyNew = createEncrypter('the next one', null, 'test');
  expect(decryptSecret(onlyNew, encrypted)).toEqual(Buffer.from(readWebhookSecret(secret) ?? []));
  await reencryptSecrets(db, {
    encrypter: createEncrypter('a secret of this test alone', 'the next one', 'test'),
    log: silentLog,
  });
});

test('marks everything as missed while an endpoint is disabled, and sends none of it when it is enabled', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/off')).id };
  hooks.setReply(() => ({ status: 500 }));
  await stage.queue(projectId, 2);
  await stage.settle();
  expect(await disableEndpoint({ db }, key)).toEqual({ missed: 2 });
  await stage.queue(projectId);
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(2);
  hooks.setReply(() => ({ status: 200 }));
  await enableEndpoint({ db }, key);
  await stage.advance(HOUR);
  expect(await statesOf(projectId)).toEqual(['missed', 'missed', 'missed']);
  await stage.queue(projectId);
  await stage.settle();
  expect(hooks.received).toHaveLength(3);
  expect(await replay(projectId, { states: ['missed'] })).toEqual({ replayed: 3 });
  await stage.settle();
  expect(await statesOf(projectId)).toEqual(Array(4).fill('delivered'));
});

test('completes a request to an endpoint that is disabled during it, without a retry', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/during')).id };
  hooks.setReply(async () => {
    await disableEndpoint({ db }, key);
    return { status: 500 };
  });
  await stage.queue(projectId);
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(1);
  expect(await statesOf(projectId)).toEqual(['missed']);
});

test('cancels the deliveries of a deleted endpoint, and deletes its secrets', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/deleted')).id };
  hooks.setReply(() => ({ status: 500 }));
  await stage.queue(projectId, 3);
  await stage.settle();
  expect(await removeEndpoint({ db }, key)).toMatchObject({ canceled: 3 });
  await stage.queue(projectId);
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(3);
  expect(await statesOf(projectId)).toEqual(['canceled', 'canceled', 'canceled']);
  expect(
    await db.query(`SELECT 1 FROM beckon.webhook_secret WHERE endpoint_id = $1`, [key.endpointId]),
  ).toEqual([]);
  await expect(enableEndpoint({ db }, key)).rejects.toMatchObject({ code: 'not_found' });
});

test('replays the same id and body with the current secret, and restarts the schedule', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/replayed')).id };
  const [id] = await stage.queue(projectId);
  await stage.settle();
  await rotateSecret(deps, key, 0);
  expect(await replay(projectId, { webhookId: id ?? null, states: ['delivered'] })).toEqual({ replayed: 1 });
  // A delivery that is already waiting is not queued twice.
  expect(await replay(projectId, { webhookId: id ?? null, states: ['delivered'] })).toEqual({ replayed: 0 });
  await stage.settle();
  const [first, second] = hooks.received;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  expect(await stage.deliveries(projectId)).toMatchObject([
    { state: 'delivered', attempts: [{ trigger: 'auto' }, { trigger: 'manual' }] },
  ]);
});

test('replays a range in steps, to enabled endpoints only', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/range', { perSecond: 10_000, inFlightMax: 20 });
  const other = await stage.endpoint(projectId, '/range/other', { perSecond: 10_000, inFlightMax: 20 });
  await stage.queue(projectId, 5);
  clock.advance(HOUR);
  const since = clock.now();
  await stage.queue(projectId, 250);
  const until = clock.now();
  clock.advance(HOUR);
  await stage.queue(projectId, 5);
  await stage.settle();
  await disableEndpoint({ db }, { projectId, endpointId: other.id });
  hooks.received.length = 0;
  expect(await replay(projectId, { since, until, states: ['delivered'] })).toEqual({ replayed: 250 });
  await stage.settle();
  expect(hooks.received).toHaveLength(250);
  const gone = { since: clock.now() - 31 * DAY, states: ['missed' as const] };
  await expect(replay(projectId, gone)).rejects.toMatchObject({ details: [{ field: 'since' }] });
  await expect(replay(projectId, { endpointId: other.id })).rejects.toMatchObject({ code: 'conflict' });
});

test('sends events from before its creation to a new endpoint only on request', async () => {
  const projectId = await stage.project();
  await stage.queue(projectId, 3, { type: 'email.opened' });
  await stage.queue(projectId, 2, { type: 'email.clicked' });
  const { id } = await stage.endpoint(projectId, '/new', { types: ['email.clicked'] });
  await stage.settle();
  expect(hooks.received).toEqual([]);
  const input = { endpointId: id, since: clock.now() - HOUR, history: true };
  await expect(replay(projectId, { ...input, endpointId: null })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  expect(await replay(projectId, input)).toEqual({ replayed: 2 });
  await stage.settle();
  expect(await replay(projectId, input)).toEqual({ replayed: 0 });
  expect(hooks.received).toHaveLength(2);
});

test('sends a long history completely, whether simultaneous or spread over time', async () => {
  const projectId = await stage.project();
  await stage.queue(projectId, 1_500);
  for (let n = 0; n < 3; n += 1) {
    clock.advance(1);
    await stage.queue(projectId, 400);
  }
  const { id } = await stage.endpoint(projectId, '/late');
  const input = { endpointId: id, since: clock.now() - HOUR, history: true };
  expect(await replay(projectId, input)).toEqual({ replayed: 2_700 });
});

test('deletes old webhooks, but not those that an endpoint waits for', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/old');
  await stage.queue(projectId, 3);
  await stage.settle();
  hooks.setReply(() => ({ status: 500 }));
  const [waiting] = await stage.queue(projectId);
  await stage.settle();
  clock.advance(31 * DAY);
  const before = new Date(clock.now() - 30 * DAY);
  const forget = () => db.transaction((tx) => forgetWebhooks(tx, { projectId, before, limit: 2 }));
  expect([await forget(), await forget(), await forget()]).toEqual([2, 1, 0]);
  expect((await stage.deliveries(projectId)).map(({ webhookId }) => webhookId)).toEqual([waiting]);
  await removeEndpoint({ db }, { projectId, endpointId: id });
  expect(await forget()).toBe(1);
  expect(await db.query(`SELECT 1 FROM beckon.webhook_attempt WHERE project_id = $1`, [projectId])).toEqual(
    [],
  );
});

test('the sweep sets a missing alarm, and leaves one that waits on purpose', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/swept', { perSecond: 0.1 });
  await stage.queue(projectId, 2);
  await stage.settle();
  expect(hooks.received).toHaveLength(1);
  clock.advance(1_000);
  expect(await sweepTimers(db)).toBe(0);
  await db.query(`UPDATE beckon.project_timer SET next_at = NULL WHERE project_id = $1`, [projectId]);
  expect(await sweepTimers(db)).toBe(1);
  await stage.advance(10_000);
  expect(hooks.received).toHaveLength(2);
});
