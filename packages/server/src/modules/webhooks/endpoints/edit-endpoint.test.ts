import { readWebhookSecret } from '@beckon/contract/signature';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { webhookStage } from '../../../../testkit/webhooks.ts';
import { silentLog } from '../../../platform/log.ts';
import { createSealer } from '../../../platform/crypto/encrypt.ts';
import { listEndpoints, listLiveSecrets } from './reads.ts';
import { openSecret, resealSecrets } from './secrets.ts';
import { forgetMessages as forgetWebhooks } from '../deliveries/store.ts';
import { replayWebhooks, type ReplayWanted } from '../deliveries/replay.ts';
import { sweepDues } from '../../processing/sweep-timers.ts';
import {
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointDeps,
  removeEndpoint,
  rotateSecret,
} from './change-endpoint.ts';

const stage = await webhookStage();
const { db, clock, hooks, sealer } = stage;
afterAll(() => stage.close());
beforeEach(() => stage.forget());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const deps: EndpointDeps = { db, newId: stage.newId, sealer, rules: { allowPrivate: true } };

async function statesOf(projectId: number): Promise<string[]> {
  return (await stage.deliveries(projectId)).map(({ state }) => state).toSorted();
}

function replay(projectId: number, more: Partial<ReplayWanted>): Promise<{ replayed: number }> {
  const all = { endpointId: null, messageId: null, since: null, until: null, states: [], history: false };
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
])('rejects an endpoint with %j, naming the field', async (wanted, field) => {
  const projectId = await stage.project();
  const refused = { code: 'validation_failed', details: [expect.objectContaining({ field })] };
  await expect(stage.endpoint(projectId, '/', wanted)).rejects.toMatchObject(refused);
  const { id } = await stage.endpoint(projectId, '/');
  await expect(changeEndpoint(deps, { projectId, endpointId: id }, wanted)).rejects.toMatchObject(refused);
});

test('applies a new URL to waiting deliveries too', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/before');
  hooks.answer(({ path }) => ({ status: path === '/after' ? 200 : 500 }));
  await stage.queue(projectId);
  await stage.settle();
  await changeEndpoint(deps, { projectId, endpointId: id }, { url: hooks.url('/after') });
  await stage.advance(10_000);
  expect(hooks.received.map(({ path }) => path)).toEqual(['/before', '/after']);
});

test('stores a secret encrypted, and decrypts it only for its endpoint', async () => {
  const projectId = await stage.project();
  const { id, secret } = await stage.endpoint(projectId, '/sealed');
  const [sealed] = await listLiveSecrets(db, { places: [{ projectId, endpointId: id }], now: clock.now() });
  if (!sealed) throw new Error('there is no secret');
  const bytes = Buffer.from(readWebhookSecret(secret) ?? []);
  expect(openSecret(sealer, sealed)).toEqual(bytes);
  expect(sealed.sealed.includes(bytes)).toBe(false);
  expect(() => openSecret(sealer, { ...sealed, endpointId: stage.newId() })).toThrow();
});

test('allows three live secrets, and ends all old ones at once without an overlap', async () => {
  const projectId = await stage.project();
  const place = { projectId, endpointId: (await stage.endpoint(projectId, '/three')).id };
  await rotateSecret(deps, place, DAY);
  await rotateSecret(deps, place, DAY);
  await expect(rotateSecret(deps, place, DAY)).rejects.toMatchObject({ code: 'conflict' });
  await expect(rotateSecret(deps, place, 7 * DAY + 1)).rejects.toMatchObject({ code: 'validation_failed' });
  await rotateSecret(deps, place, 0);
  expect(await listLiveSecrets(db, { places: [place], now: clock.now() })).toHaveLength(1);
});

test('re-encrypts endpoint secrets once for a new secret key of the installation', async () => {
  const projectId = await stage.project();
  const { id, secret } = await stage.endpoint(projectId, '/resealed');
  const renewing = createSealer('the next one', 'a secret of this test alone', 'test');
  expect(await resealSecrets(db, { sealer: renewing, log: silentLog })).toBeGreaterThan(0);
  expect(await resealSecrets(db, { sealer: renewing, log: silentLog })).toBe(0);
  const [sealed] = await listLiveSecrets(db, { places: [{ projectId, endpointId: id }], now: clock.now() });
  if (!sealed) throw new Error('there is no secret');
  const onlyNew = createSealer('the next one', null, 'test');
  expect(openSecret(onlyNew, sealed)).toEqual(Buffer.from(readWebhookSecret(secret) ?? []));
  await resealSecrets(db, {
    sealer: createSealer('a secret of this test alone', 'the next one', 'test'),
    log: silentLog,
  });
});

test('marks everything as missed while an endpoint is disabled, and sends none of it when it is enabled', async () => {
  const projectId = await stage.project();
  const place = { projectId, endpointId: (await stage.endpoint(projectId, '/off')).id };
  hooks.answer(() => ({ status: 500 }));
  await stage.queue(projectId, 2);
  await stage.settle();
  expect(await disableEndpoint({ db }, place)).toEqual({ missed: 2 });
  await stage.queue(projectId);
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(2);
  hooks.answer(() => ({ status: 200 }));
  await enableEndpoint({ db }, place);
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
  const place = { projectId, endpointId: (await stage.endpoint(projectId, '/during')).id };
  hooks.answer(async () => {
    await disableEndpoint({ db }, place);
    return { status: 500 };
  });
  await stage.queue(projectId);
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(1);
  expect(await statesOf(projectId)).toEqual(['missed']);
});

test('cancels the deliveries of a deleted endpoint, and deletes its secrets', async () => {
  const projectId = await stage.project();
  const place = { projectId, endpointId: (await stage.endpoint(projectId, '/deleted')).id };
  hooks.answer(() => ({ status: 500 }));
  await stage.queue(projectId, 3);
  await stage.settle();
  expect(await removeEndpoint({ db }, place)).toMatchObject({ canceled: 3 });
  await stage.queue(projectId);
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(3);
  expect(await statesOf(projectId)).toEqual(['canceled', 'canceled', 'canceled']);
  expect(
    await db.query(`SELECT 1 FROM beckon.webhook_secret WHERE endpoint_id = $1`, [place.endpointId]),
  ).toEqual([]);
  await expect(enableEndpoint({ db }, place)).rejects.toMatchObject({ code: 'not_found' });
});

test('replays the same id and body with the current secret, and restarts the schedule', async () => {
  const projectId = await stage.project();
  const place = { projectId, endpointId: (await stage.endpoint(projectId, '/replayed')).id };
  const [id] = await stage.queue(projectId);
  await stage.settle();
  await rotateSecret(deps, place, 0);
  expect(await replay(projectId, { messageId: id ?? null, states: ['delivered'] })).toEqual({ replayed: 1 });
  // A delivery that is already waiting is not queued twice.
  expect(await replay(projectId, { messageId: id ?? null, states: ['delivered'] })).toEqual({ replayed: 0 });
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
  const asked = { endpointId: id, since: clock.now() - HOUR, history: true };
  await expect(replay(projectId, { ...asked, endpointId: null })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  expect(await replay(projectId, asked)).toEqual({ replayed: 2 });
  await stage.settle();
  expect(await replay(projectId, asked)).toEqual({ replayed: 0 });
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
  const asked = { endpointId: id, since: clock.now() - HOUR, history: true };
  expect(await replay(projectId, asked)).toEqual({ replayed: 2_700 });
});

test('deletes old webhooks, but not those that an endpoint waits for', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/old');
  await stage.queue(projectId, 3);
  await stage.settle();
  hooks.answer(() => ({ status: 500 }));
  const [waiting] = await stage.queue(projectId);
  await stage.settle();
  clock.advance(31 * DAY);
  const before = new Date(clock.now() - 30 * DAY);
  const forget = () => db.transaction((tx) => forgetWebhooks(tx, { projectId, before, limit: 2 }));
  expect([await forget(), await forget(), await forget()]).toEqual([2, 1, 0]);
  expect((await stage.deliveries(projectId)).map(({ messageId }) => messageId)).toEqual([waiting]);
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
  expect(await sweepDues(db)).toBe(0);
  await db.query(`UPDATE beckon.tenant_due SET next_at = NULL WHERE project_id = $1`, [projectId]);
  expect(await sweepDues(db)).toBe(1);
  await stage.advance(10_000);
  expect(hooks.received).toHaveLength(2);
});
