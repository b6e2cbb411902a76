import { readWebhookSecret, verifyWebhook } from '@beckon/contract/signature';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { AGENT, settled, webhookStage } from '../../../testkit/webhooks.ts';
import { eraseWebhooks } from '../../features/webhooks/index.ts';
import { replayWebhooks } from '../replay-webhooks.ts';
import { rotateSecret } from '../webhook-endpoints.ts';

const stage = await webhookStage(2_000);
const { db, clock, hooks } = stage;
afterAll(() => stage.close());

beforeEach(() => stage.forget());

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

test('a message reaches each endpoint that wants its type, once, as the bytes that were stored', async () => {
  const projectId = await stage.project();
  const all = await stage.endpoint(projectId, '/all');
  await stage.endpoint(projectId, '/clicks', { types: ['email.clicked'] });
  await stage.endpoint(await stage.project(), '/stranger');
  const [id] = await stage.queue(projectId);
  await stage.settle();
  expect(hooks.received.map(({ path }) => path)).toEqual(['/all']);
  const [hooked] = hooks.received;
  const [message] = await db.query<{ body: string }>(
    `SELECT body FROM beckon.webhook_message WHERE id = $1`,
    [id],
  );
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

test('no request leaves before its attempt is committed', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/log');
  const seen: unknown[] = [];
  hooks.answer(async () => {
    seen.push(...(await stage.deliveries(projectId)).map(({ state, attempts }) => ({ state, attempts })));
    return { status: 200, body: 'thanks' };
  });
  await stage.queue(projectId);
  await stage.settle();
  expect(seen).toMatchObject([
    { state: 'delivering', attempts: [{ number: 1, endedAt: null, status: null }] },
  ]);
  expect((await stage.deliveries(projectId))[0]?.attempts).toMatchObject([{ status: 200, answer: 'thanks' }]);
});

test('what fails is tried again by the schedule, with the same id and body, signed anew, and is exhausted at its end', async () => {
  const projectId = await stage.project();
  const { secret } = await stage.endpoint(projectId, '/down');
  hooks.answer(() => ({ status: 500, body: 'sorry' }));
  await stage.queue(projectId);
  await stage.advance(100 * HOUR);
  const [delivery] = await stage.deliveries(projectId);
  expect(delivery).toMatchObject({ state: 'exhausted', nextAt: null });
  const starts = delivery?.attempts.map(({ startedAt }) => startedAt) ?? [];
  const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
  const wanted = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * SECOND);
  for (const [i, gap] of gaps.entries())
    expect(gap / (wanted[i] ?? 1)).toSatisfy((r: number) => r >= 0.8 && r <= 1.21);
  expect(gaps).toHaveLength(9);
  expect(new Set(hooks.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(hooks.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(hooks.received.map(({ headers }) => headers['x-service-signature'])).size).toBe(10);
  expect(hooks.received.map((one) => verified(one, [secret], one.headers['webhook-timestamp']))).toEqual(
    Array(10).fill({ ok: true }),
  );
});

test.each([
  [
    'a redirect',
    { status: 302, headers: { location: 'https://127.0.0.1/' } },
    { status: 302, error: 'redirect' },
  ],
  ['a connection that is cut', 'reset' as const, { status: null, error: 'reset' }],
  ['no answer in time', 'silent' as const, { status: null, error: 'timeout' }],
])('%s is a failure, and is tried again', async (_, answer, attempt) => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/odd');
  hooks.answer(() => answer);
  await stage.queue(projectId);
  await stage.settle();
  expect(await stage.deliveries(projectId)).toMatchObject([{ state: 'pending', attempts: [attempt] }]);
  expect(hooks.received).toHaveLength(1);
});

test('what is cut on a connection that served before goes again at once, as an attempt of its own', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/cut');
  hooks.answer(() => (hooks.received.length === 2 ? 'reset' : { status: 204 }));
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

test('an address that is closed is not connected to, and the attempt says no more than that', async () => {
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

test('an endpoint that asks for patience is given it, up to twice what was due anyway', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/busy');
  hooks.answer(() => ({ status: 429, headers: { 'retry-after': '8' } }));
  await stage.queue(projectId);
  await stage.settle();
  const [first] = await stage.deliveries(projectId);
  expect((first?.nextAt ?? 0) - clock.now()).toBe(8 * SECOND);
  hooks.answer(() => ({ status: 503, headers: { 'retry-after': '999999' } }));
  await stage.advance(8 * SECOND + 10);
  const [second] = await stage.deliveries(projectId);
  const waits = (second?.nextAt ?? 0) - clock.now();
  expect(waits).toBeGreaterThanOrEqual(2 * 240 * SECOND - 100);
  expect(waits).toBeLessThanOrEqual(2 * 360 * SECOND);
});

test('410 disables the endpoint at once, what waits for it is missed, and so is what comes', async () => {
  const projectId = await stage.project();
  const { id } = await stage.endpoint(projectId, '/gone', { inFlightMax: 1 });
  hooks.answer(() => ({ status: 410 }));
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

test('an endpoint is asked no more at once, and no oftener, than it is allowed to be', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/slow', { inFlightMax: 3 });
  await stage.endpoint(projectId, '/seldom', { perSecond: 2 });
  const gate = Promise.withResolvers<void>();
  hooks.answer(async ({ path }) => {
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

test('pauses an endpoint that fails nearly always, then tries it once, and counts no attempt while it waits', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/breaks');
  hooks.answer(() => ({ status: 500 }));
  await stage.queue(projectId, 10);
  await stage.settle();
  expect(countOf('/breaks')).toBe(10);
  await stage.queue(projectId, 10);
  await stage.advance(29 * SECOND);
  expect(countOf('/breaks')).toBe(10);
  await stage.advance(2 * SECOND);
  expect(countOf('/breaks')).toBe(11);
  hooks.answer(() => ({ status: 200 }));
  await stage.advance(31 * SECOND);
  expect((await stage.deliveries(projectId)).filter(({ state }) => state === 'delivered')).toHaveLength(20);
  // Ten at first, one that told, and then everything.
  expect(countOf('/breaks')).toBe(10 + 1 + 20);
});

test('what happens anew is told of before what is replayed', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/again', { perSecond: 1, inFlightMax: 1 });
  const old = await stage.queue(projectId, 100);
  await db.query(
    `UPDATE beckon.webhook_delivery SET state = 'delivered', next_at = NULL WHERE project_id = $1`,
    [projectId],
  );
  const all = { projectId, endpointId: null, messageId: null, since: null, until: null, history: false };
  expect(await replayWebhooks(db, { ...all, states: ['delivered'] })).toEqual({ replayed: 100 });
  await stage.advance(2 * SECOND);
  const [fresh] = await stage.queue(projectId);
  const before = hooks.received.length;
  await stage.advance(2 * SECOND);
  const told = hooks.received.map(({ headers }) => String(headers['webhook-id']).slice('msg_'.length));
  expect(told[before]).toBe(fresh);
  expect(old).toEqual(expect.arrayContaining([told[0], told[before + 1]]));
});

test('a slow endpoint delays no other, of its project or of another', async () => {
  const [mine, other] = [await stage.project(), await stage.project()];
  await stage.endpoint(mine, '/hangs', { perSecond: 1_000, inFlightMax: 100 });
  await stage.endpoint(mine, '/quick');
  await stage.endpoint(other, '/other');
  hooks.answer(({ path }) => (path === '/hangs' ? 'silent' : { status: 200 }));
  await stage.queue(mine, 10);
  await stage.queue(other, 10);
  await stage.delivery.round();
  await expect.poll(() => countOf('/quick') + countOf('/other')).toBe(20);
  expect(hooks.open.get('/hangs')?.now).toBe(10);
  await stage.settle();
});

test('a delivery whose worker is gone is tried again at once when its lease is over', async () => {
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

test('what a worker that stops no longer waits for goes again at once, by another', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/stopped');
  await stage.queue(projectId);
  const stopping = stage.another({ post: () => new Promise<never>(() => {}) });
  await stopping.round();
  stopping.stop();
  stopping.abandon();
  await stopping.round();
  expect(stopping.underWay()).toBe(0);
  await stage.settle();
  expect(await stage.deliveries(projectId)).toMatchObject([
    { state: 'delivered', attempts: [{ error: 'stopped' }, { status: 204 }] },
  ]);
});

test('two workers at once deliver everything once, and together keep to the quota', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/shared', { inFlightMax: 4, perSecond: 10_000 });
  await stage.queue(projectId, 100);
  const twin = stage.another();
  hooks.answer(async () => {
    await new Promise((resolve) => void setTimeout(resolve, 5));
    return { status: 200 };
  });
  const work = async (delivery: typeof twin): Promise<void> => {
    while ((await stage.deliveries(projectId)).some(({ state }) => state !== 'delivered')) {
      await delivery.round();
      await delivery.answered();
    }
  };
  await Promise.all([work(stage.delivery), work(twin)]);
  await Promise.all([settled(stage.delivery), settled(twin)]);
  expect(countOf('/shared')).toBe(100);
  expect(hooks.open.get('/shared')?.most).toBeLessThanOrEqual(4);
  const deliveries = await stage.deliveries(projectId);
  expect(deliveries.map(({ attempts }) => attempts.length)).toEqual(Array(100).fill(1));
});

test('what is wrong with one project is none of the others', async () => {
  const [broken, unreadable, well] = [await stage.project(), await stage.project(), await stage.project()];
  const one = await stage.endpoint(broken, '/broken');
  const other = await stage.endpoint(unreadable, '/unreadable');
  await stage.endpoint(well, '/well');
  await db.query(`UPDATE beckon.webhook_health SET refilled_at = 'infinity' WHERE endpoint_id = $1`, [
    one.id,
  ]);
  await db.query(`UPDATE beckon.webhook_health SET windows = '5' WHERE endpoint_id = $1`, [other.id]);
  for (const projectId of [broken, unreadable, well]) await stage.queue(projectId, 3);
  const shaken = stage.another();
  for (let i = 0; i < 30; i += 1) {
    await shaken.round().catch(() => {});
    await shaken.answered();
  }
  expect((await stage.deliveries(well)).map(({ state }) => state)).toEqual(Array(3).fill('delivered'));
  expect(shaken.underWay()).toBe(0);
  expect(countOf('/unreadable')).toBe(3);
  await db.query(`UPDATE beckon.webhook_health SET refilled_at = now(), windows = '[]'`);
});

test('while a secret is replaced both sign, and afterwards the new one alone', async () => {
  const projectId = await stage.project();
  const { id, secret } = await stage.endpoint(projectId, '/rotated');
  const deps = { db, newId: stage.newId, sealer: stage.sealer };
  const next = await rotateSecret(deps, { projectId, endpointId: id }, 24 * HOUR);
  await stage.queue(projectId);
  await stage.settle();
  const [during] = hooks.received;
  expect(during?.headers['x-service-signature']).toMatch(/^t=\d+,v1=[\da-f]{64},v1=[\da-f]{64}$/);
  for (const one of [secret, next]) expect(verified(during, [one])).toEqual({ ok: true });
  clock.advance(24 * HOUR);
  await stage.queue(projectId);
  await stage.settle();
  const after = hooks.received.at(-1);
  expect(verified(after, [next])).toEqual({ ok: true });
  expect(verified(after, [secret])).toEqual({ ok: false, why: 'wrong_signature' });
});

test('of a person who is erased nothing more is told, and nothing of them is kept', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/erased');
  hooks.answer(() => ({ status: 500, body: 'bob is unknown' }));
  const [id] = await stage.queue(projectId, 1, { userId: 'bob' });
  await stage.settle();
  await db.transaction((tx) => eraseWebhooks(tx, { projectId, userId: 'bob', at: clock.now() }));
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(1);
  expect(await stage.deliveries(projectId)).toMatchObject([
    { messageId: id, state: 'canceled', isErased: true, attempts: [{ answer: null }] },
  ]);
  expect(
    await db.query(`SELECT body, external_user_id FROM beckon.webhook_message WHERE id = $1`, [id]),
  ).toEqual([{ body: '', external_user_id: null }]);
});

test('one who is erased while a request is under way is not told of again', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/meanwhile');
  hooks.answer(async () => {
    await db.transaction((tx) => eraseWebhooks(tx, { projectId, userId: 'cid', at: clock.now() }));
    return { status: 500, body: 'cid?' };
  });
  await stage.queue(projectId, 1, { userId: 'cid' });
  await stage.advance(HOUR);
  expect(hooks.received).toHaveLength(1);
  expect(await stage.deliveries(projectId)).toMatchObject([
    { state: 'canceled', attempts: [{ answer: null }] },
  ]);
});

function countOf(path: string): number {
  return hooks.received.filter((one) => one.path === path).length;
}

/** As its receiver would, at the moment at which it was signed. */
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
