import { readWebhookSecret, verifyWebhook } from '@beckon/contract/signature';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { AGENT, settled, webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { eraseWebhooks } from '../deliveries/store.ts';
import { replayWebhooks } from '../deliveries/replay.ts';
import { rotateSecret } from '../endpoints/change-endpoint.ts';

const stage = await webhookStage(2_000);
const { db, clock, hooks } = stage;
afterAll(() => stage.close());

beforeEach(() => stage.forget());

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

test('delivers a webhook once to each endpoint that subscribes to its type, with the stored bytes', async () => {
  const projectId = await stage.project();
  const all = await stage.endpoint(projectId, '/all');
  await stage.endpoint(projectId, '/clicks', { types: ['email.clicked'] });
  await stage.endpoint(await stage.project(), '/stranger');
  const [id] = await stage.queue(projectId);
  await stage.settle();
  expect(hooks.received.map(({ path }) => path)).toEqual(['/all']);
  const [hooked] = hooks.received;
  const [message] = await db.query<{ body: string }>(`SELECT body FROM beckon.webhook WHERE id = $1`, [id]);
  expect(hooked?.body).toBe(message?.body);
  expect(hooked?.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': AGENT,
    'webhook-id': `msg_${id}`,
  });
  expect(verified(hooked, [all.secret])).toEqual({ ok: true });
  const [delivery] = await stage.deliveries(projectId);
  expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ number: 1, status: 204, error: null }] });
});

test('sends no request before its attempt is committed', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/log');
  const seen: unknown[] = [];
  hooks.setReply(async () => {
    seen.push(...(await stage.deliveries(projectId)).map(({ state, attempts }) => ({ state, attempts })));
    return { status: 200, body: 'thanks' };
  });
  await stage.queue(projectId);
  await stage.settle();
  expect(seen).toMatchObject([
    { state: 'delivering', attempts: [{ number: 1, endedAt: null, status: null }] },
  ]);
  expect((await stage.deliveries(projectId))[0]?.attempts).toMatchObject([
    { status: 200, response: 'thanks' },
  ]);
});

test('retries on schedule with the same id and body and a fresh signature, until exhausted', async () => {
  const projectId = await stage.project();
  const { secret } = await stage.endpoint(projectId, '/down');
  hooks.setReply(() => ({ status: 500, body: 'sorry' }));
  await stage.queue(projectId);
  await stage.advance(100 * HOUR);
  const [delivery] = await stage.deliveries(projectId);
  expect(delivery).toMatchObject({ state: 'exhausted', nextAt: null });
  const starts = delivery?.attempts.map(({ startedAt }) => startedAt) ?? [];
  const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
  const expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * SECOND);
  for (const [i, gap] of gaps.entries())
    expect(gap / (expected[i] ?? 1)).toSatisfy((r: number) => r >= 0.8 && r <= 1.21);
  expect(gaps).toHaveLength(9);
  expect(new Set(hooks.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(hooks.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(hooks.received.map(({ headers }) => headers['x-service-signature'])).size).toBe(10);
  expect(
    hooks.received.map((request) => verified(request, [secret], request.headers['webhook-timestamp'])),
  ).toEqual(Array(10).fill({ ok: true }));
});

test.each([
  [
    'a redirect',
    { status: 302, headers: { location: 'https://127.0.0.1/' } },
    { status: 302, error: 'redirect' },
  ],
  ['a connection that is cut', 'reset' as const, { status: null, error: 'reset' }],
  ['no answer in time', 'silent' as const, { status: null, error: 'timeout' }],
])('retries after %s', async (_, mode, attempt) => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/odd');
  hooks.setReply(() => mode);
  await stage.queue(projectId);
  await stage.settle();
  expect(await stage.deliveries(projectId)).toMatchObject([{ state: 'pending', attempts: [attempt] }]);
  expect(hooks.received).toHaveLength(1);
});

test('retries at once, as a separate attempt, if a reused connection is cut', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/cut');
  hooks.setReply(() => (hooks.received.length === 2 ? 'reset' : { status: 204 }));
  for (let n = 0; n < 2; n += 1) {
    await stage.queue(projectId);
    await stage.settle();
  }
  const deliveries = await stage.deliveries(projectId);
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  expect(attempts).toHaveLength(hooks.received.length);
  expect(attempts.map(({ status, error }) => error ?? String(status)).toSorted()).toEqual([
    '204',
    '204',
    'reset',
  ]);
  expect(deliveries).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  const health = await db.query(
    `SELECT failing_since IS NULL AS well FROM beckon.webhook_health WHERE endpoint_id = $1`,
    [id],
  );
  expect(health).toEqual([{ well: true }]);
});

test('does not connect to a blocked address, and records only that in the attempt', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/');
  await db.query(`UPDATE beckon.webhook_endpoint SET url = 'https://169.254.169.254/latest' WHERE id = $1`, [
    id,
  ]);
  await stage.queue(projectId);
  await stage.settle();
  expect((await stage.deliveries(projectId))[0]?.attempts).toMatchObject([
    { error: 'blocked', status: null },
  ]);
});

test('respects Retry-After up to twice the scheduled delay', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/busy');
  hooks.setReply(() => ({ status: 429, headers: { 'retry-after': '8' } }));
  await stage.queue(projectId);
  await stage.settle();
  const [first] = await stage.deliveries(projectId);
  expect((first?.nextAt ?? 0) - clock.now()).toBe(8 * SECOND);
  hooks.setReply(() => ({ status: 503, headers: { 'retry-after': '999999' } }));
  await stage.advance(8 * SECOND + 10);
  const [second] = await stage.deliveries(projectId);
  const waits = (second?.nextAt ?? 0) - clock.now();
  expect(waits).toBeGreaterThanOrEqual(2 * 240 * SECOND - 100);
  expect(waits).toBeLessThanOrEqual(2 * 360 * SECOND);
});

test('disables an endpoint that returns 410, and marks pending and later deliveries as missed', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/gone', { inFlightMax: 1 });
  hooks.setReply(() => ({ status: 410 }));
  await stage.queue(projectId, 5);
  await stage.settle();
  expect(hooks.received).toHaveLength(1);
  await stage.queue(projectId);
  await stage.settle();
  expect(hooks.received).toHaveLength(1);
  expect((await stage.deliveries(projectId)).map(({ state }) => state)).toEqual(Array(6).fill('missed'));
  const [endpoint] = await db.query(`SELECT disabled_reason FROM beckon.webhook_endpoint WHERE id = $1`, [
    id,
  ]);
  expect(endpoint).toEqual({ disabled_reason: 'gone' });
});

test('respects the in-flight limit and the rate limit of an endpoint', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/slow', { inFlightMax: 3 });
  await stage.endpoint(projectId, '/seldom', { perSecond: 2 });
  const gate = Promise.withResolvers<void>();
  hooks.setReply(async ({ path }) => {
    if (path === '/slow') await gate.promise;
    return { status: 200 };
  });
  await stage.queue(projectId, 20);
  await stage.delivery.round();
  await stage.delivery.round();
  await expect.poll(() => hooks.open.get('/slow')?.now).toBe(3);
  gate.resolve();
  await stage.settle();
  expect(hooks.open.get('/slow')?.most).toBe(3);
  expect(countOf('/slow')).toBe(20);
  expect(countOf('/seldom')).toBe(2);
  await stage.advance(4 * SECOND);
  expect(countOf('/seldom')).toBe(10);
  await stage.advance(5 * SECOND + 10);
  expect(countOf('/seldom')).toBe(20);
});

test('pauses an endpoint that almost always fails, then sends one trial, and counts no attempts during the pause', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/breaks');
  hooks.setReply(() => ({ status: 500 }));
  await stage.queue(projectId, 10);
  await stage.settle();
  expect(countOf('/breaks')).toBe(10);
  await stage.queue(projectId, 10);
  await stage.advance(29 * SECOND);
  expect(countOf('/breaks')).toBe(10);
  await stage.advance(2 * SECOND);
  expect(countOf('/breaks')).toBe(11);
  hooks.setReply(() => ({ status: 200 }));
  await stage.advance(31 * SECOND);
  expect((await stage.deliveries(projectId)).filter(({ state }) => state === 'delivered')).toHaveLength(20);
  // Ten attempts at first, one trial that succeeds, then the rest.
  expect(countOf('/breaks')).toBe(10 + 1 + 20);
});

test('delivers new events before replayed ones', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/again', { perSecond: 1, inFlightMax: 1 });
  const old = await stage.queue(projectId, 100);
  await db.query(
    `UPDATE beckon.webhook_delivery SET state = 'delivered', next_at = NULL WHERE project_id = $1`,
    [projectId],
  );
  const all = { projectId, endpointId: null, webhookId: null, since: null, until: null, history: false };
  expect(await replayWebhooks(db, { ...all, states: ['delivered'] })).toEqual({ replayed: 100 });
  await stage.advance(2 * SECOND);
  const [fresh] = await stage.queue(projectId);
  const before = hooks.received.length;
  await stage.advance(2 * SECOND);
  const ids = hooks.received.map(({ headers }) => String(headers['webhook-id']).slice('msg_'.length));
  expect(ids[before]).toBe(fresh);
  expect(old).toEqual(expect.arrayContaining([ids[0], ids[before + 1]]));
});

test('does not delay other endpoints, of the same or another project, for a slow one', async () => {
  const [mine, other] = [await stage.project(), await stage.project()];
  await stage.endpoint(mine, '/hangs', { perSecond: 1_000, inFlightMax: 100 });
  await stage.endpoint(mine, '/quick');
  await stage.endpoint(other, '/other');
  hooks.setReply(({ path }) => (path === '/hangs' ? 'silent' : { status: 200 }));
  await stage.queue(mine, 10);
  await stage.queue(other, 10);
  await stage.delivery.round();
  await expect.poll(() => countOf('/quick') + countOf('/other')).toBe(20);
  expect(hooks.open.get('/hangs')?.now).toBe(10);
  await stage.settle();
});

test('retries the delivery of a lost worker at once after its lease expires', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/again');
  const never = new Promise<never>(() => {});
  await stage.queue(projectId);
  await stage.another({ post: () => never }).round();
  await stage.advance(29 * SECOND);
  expect(hooks.received).toEqual([]);
  await stage.advance(2 * SECOND);
  expect(await stage.deliveries(projectId)).toMatchObject([
    {
      state: 'delivered',
      attempts: [
        { number: 1, error: 'lost' },
        { number: 2, status: 204 },
      ],
    },
  ]);
});

test('retries a request that a stopping worker abandoned at once, in another worker', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/stopped');
  await stage.queue(projectId);
  const stopping = stage.another({ post: () => new Promise<never>(() => {}) });
  await stopping.round();
  stopping.stop();
  stopping.abandon();
  await stopping.round();
  expect(stopping.unrecordedCount()).toBe(0);
  await stage.settle();
  expect(await stage.deliveries(projectId)).toMatchObject([
    { state: 'delivered', attempts: [{ error: 'stopped' }, { status: 204 }] },
  ]);
});

test('delivers everything once with two concurrent workers that share the quota', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/shared', { inFlightMax: 4, perSecond: 10_000 });
  await stage.queue(projectId, 100);
  const twin = stage.another();
  hooks.setReply(async () => {
    await new Promise((resolve) => void setTimeout(resolve, 5));
    return { status: 200 };
  });
  const work = async (delivery: typeof twin): Promise<void> => {
    while ((await stage.deliveries(projectId)).some(({ state }) => state !== 'delivered')) {
      await delivery.round();
      await delivery.whenIdle();
    }
  };
  await Promise.all([work(stage.delivery), work(twin)]);
  await Promise.all([settled(stage.delivery), settled(twin)]);
  expect(countOf('/shared')).toBe(100);
  expect(hooks.open.get('/shared')?.most).toBeLessThanOrEqual(4);
  const deliveries = await stage.deliveries(projectId);
  expect(deliveries.map(({ attempts }) => attempts.length)).toEqual(Array(100).fill(1));
});

test('isolates a failing project from the others', async () => {
  const [broken, unreadable, well] = [await stage.project(), await stage.project(), await stage.project()];
  const brokenEndpoint = await stage.endpoint(broken, '/broken');
  const other = await stage.endpoint(unreadable, '/unreadable');
  await stage.endpoint(well, '/well');
  await db.query(`UPDATE beckon.webhook_health SET refilled_at = 'infinity' WHERE endpoint_id = $1`, [
    brokenEndpoint.id,
  ]);
  await db.query(`UPDATE beckon.webhook_health SET windows = '5' WHERE endpoint_id = $1`, [other.id]);
  for (const projectId of [broken, unreadable, well]) await stage.queue(projectId, 3);
  const shaken = stage.another();
  for (let i = 0; i < 30; i += 1) {
    await shaken.round().catch(() => {});
    await shaken.whenIdle();
  }
  expect((await stage.deliveries(well)).map(({ state }) => state)).toEqual(Array(3).fill('delivered'));
  expect(shaken.unrecordedCount()).toBe(0);
  expect(countOf('/unreadable')).toBe(3);
  await db.query(`UPDATE beckon.webhook_health SET refilled_at = now(), windows = '[]'`);
});

test('signs with both secrets during a rotation, and only with the new one afterwards', async () => {
  const projectId = await stage.project();
  const { id, secret } = await stage.endpoint(projectId, '/rotated');
  const deps = { db, newId: stage.newId, encrypter: stage.encrypter };
  const next = await rotateSecret(deps, { projectId, endpointId: id }, 24 * HOUR);
  await stage.queue(projectId);
  await stage.settle();
  const [during] = hooks.received;
  expect(during?.headers['x-service-signature']).toMatch(/^t=\d+,v1=[\da-f]{64},v1=[\da-f]{64}$/);
  for (const secretOrNext of [secret, next]) expect(verified(during, [secretOrNext])).toEqual({ ok: true });
  clock.advance(24 * HOUR);
  await stage.queue(projectId);
  await stage.settle();
  const after = hooks.received.at(-1);
  expect(verified(after, [next])).toEqual({ ok: true });
  expect(verified(after, [secret])).toEqual({ ok: false, why: 'wrong_signature' });
});

test('sends nothing more about an erased user, and keeps nothing about them', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/erased');
  hooks.setReply(() => ({ status: 500, body: 'bob is unknown' }));
  const [id] = await stage.queue(projectId, 1, { userId: 'bob' });
  await stage.settle();
  await db.transaction((tx) => eraseWebhooks(tx, { projectId, userId: 'bob', at: clock.now() }));
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(1);
  expect(await stage.deliveries(projectId)).toMatchObject([
    { webhookId: id, state: 'canceled', isErased: true, attempts: [{ response: null }] },
  ]);
  expect(await db.query(`SELECT body, external_user_id FROM beckon.webhook WHERE id = $1`, [id])).toEqual([
    { body: '', external_user_id: null },
  ]);
});

test('does not retry a delivery if its user is erased during the request', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/meanwhile');
  hooks.setReply(async () => {
    await db.transaction((tx) => eraseWebhooks(tx, { projectId, userId: 'cid', at: clock.now() }));
    return { status: 500, body: 'cid?' };
  });
  await stage.queue(projectId, 1, { userId: 'cid' });
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(1);
  expect(await stage.deliveries(projectId)).toMatchObject([
    { state: 'canceled', attempts: [{ response: null }] },
  ]);
});

function countOf(path: string): number {
  return hooks.received.filter((request) => request.path === path).length;
}

/** Verifies a request as its receiver does, at the time of the signature. */
function verified(
  hooked: (typeof hooks.received)[number] | undefined,
  secrets: string[],
  at: unknown = Math.floor(clock.now() / SECOND),
) {
  if (!hooked) throw new Error('nothing was received');
  const { headers, body } = hooked;
  const bytes = secrets.map((secret) => readWebhookSecret(secret) ?? Buffer.alloc(0));
  return verifyWebhook({ headers, body, secrets: bytes, now: Number(at) * SECOND });
}
