import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type AnyEvent,
  Beckon,
  type BatchingOptions,
  type RetryOptions,
  type TrackedEvent,
} from './index.ts';
import { createFakeServer, type FakeServer } from './testing.ts';

let fake: FakeServer;
let failed: Parameters<BatchingOptions['onError']>[] = [];

beforeAll(async () => {
  fake = await createFakeServer();
});
afterEach(() => {
  fake.reset();
  failed = [];
});
afterAll(() => fake.close());

function batching(
  options: Partial<BatchingOptions> = {},
  retry: RetryOptions = {},
  send: typeof fetch = fetch,
): Beckon {
  return new Beckon({
    apiKey: fake.apiKey,
    url: fake.url,
    retry,
    fetch: send,
    batching: { maxWaitMs: 60_000, onError: (error, events) => failed.push([error, events]), ...options },
  });
}
const event = (n: number): AnyEvent & { properties: { n: number } } => ({
  external_user_id: `u${n}`,
  name: 'feature_used',
  properties: { n },
});
const order = (): unknown[] => fake.events.map(({ properties }) => properties['n']);
const range = (count: number): number[] => [...Array(count).keys()];

test('batching › sends events together, in order, with the values that they had when tracked', async () => {
  const beckon = batching({ maxRecords: 100 });
  const changing = event(0);
  expect(await beckon.track(changing)).toEqual({ state: 'queued' });
  changing.properties.n = 99;
  for (const n of range(249).map((m) => m + 1)) void beckon.track(event(n));
  await beckon.close();
  expect(order()).toEqual(range(250));
  expect(fake.requests.map(({ path }) => path)).toEqual(Array(3).fill('/api/v1/events/batch'));
  expect(failed).toEqual([]);
});

test('flush › resolves although more events are tracked, which wait for the next batch', async () => {
  let last = 6;
  const beckon = batching({ maxRecords: 5, maxWaitMs: 20 }, {}, (url, init) => {
    const sent = fetch(url, init);
    if (last < 20) void sent.then(() => beckon.track(event((last += 1))));
    return sent;
  });
  for (const n of range(7)) await beckon.track(event(n));
  await beckon.flush();
  expect(order().length).toBeLessThan(10);
  await expect.poll(() => order().at(-1)).toBe(20);
  await beckon.close();
  expect(order()).toEqual(range(21));
});

test('track › sends an event with an idempotency key or a signal immediately, in its own request', async () => {
  const beckon = batching();
  const idempotencyKey = crypto.randomUUID();
  expect(await beckon.track(event(1), { idempotencyKey })).toMatchObject({ replayed: false });
  expect(await beckon.track(event(1), { idempotencyKey })).toMatchObject({ replayed: true });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(beckon.track(event(2), { signal })).rejects.toThrow('enough');
  expect([order(), failed]).toEqual([[1], []]);
  await beckon.close();
});

test('batching › sends an event at the latest after maxWaitMs', async () => {
  const beckon = batching({ maxWaitMs: 5 });
  await beckon.track(event(1));
  await expect.poll(order).toEqual([1]);
  await beckon.close();
});

test('batching › reports an invalid event to onError, and sends the others under a new key', async () => {
  const beckon = batching();
  await beckon.track(event(0));
  await beckon.track({
    external_user_id: 'u1',
    name: 'usage_threshold_reached',
    properties: { usagePercent: 1 },
  });
  const wrong = [
    { ...event(2), name: '' },
    { ...event(3), occurred_at: 'yesterday' },
  ];
  for (const each of wrong) await beckon.track(each);
  await beckon.track(event(4));
  await beckon.flush();
  expect(failed.map(([{ errors }, events]) => [errors.map(({ field }) => field), events])).toEqual([
    [['events.2.name'], [wrong[0]]],
    [['events.3.occurred_at'], [wrong[1]]],
  ]);
  expect(fake.events.map(({ external_user_id }) => external_user_id)).toEqual(['u0', 'u1', 'u4']);
  expect(new Set(fake.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  await beckon.close();
});

test('batching › reports an event that cannot be serialized as JSON, and sends the others', async () => {
  const beckon = batching();
  const cycle: { itself?: object } = {};
  cycle.itself = cycle;
  const silent = { toJSON: () => undefined };
  const odd = [{ n: 1n }, cycle].map((properties) => ({ ...event(0), properties }));
  const wrong = [...odd, { ...event(0), ...silent }];
  await beckon.track(event(1));
  for (const each of wrong) await beckon.track(each as unknown as TrackedEvent);
  await beckon.track(event(2));
  await beckon.close();
  expect(failed.map(([{ name, code }, events]) => [name, code, events])).toEqual(
    wrong.map((each) => ['ValidationError', 'validation_failed', [each]]),
  );
  expect(failed[0]?.[0].message).toContain('BigInt');
  expect(order()).toEqual([1, 2]);
});

test('batching › reports events that cannot be sent, and sends those after them', async () => {
  const beckon = batching({ maxRecords: 2 });
  fake.fail({ status: 401 });
  for (const n of range(4)) await beckon.track(event(n));
  await beckon.flush();
  expect(failed).toMatchObject([[{ name: 'AuthError' }, [event(0), event(1)]]]);
  expect(order()).toEqual([2, 3]);
  await beckon.close();
});

test('batching › loses no event while the server is unavailable, unless attempts are limited', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  fake.fail({ status: 503, times: 40 });
  const beckon = batching();
  await beckon.track(event(1));
  await beckon.flush();
  expect([failed, order()]).toEqual([[], [1]]);
  fake.fail({ status: 503, times: 40 });
  const hasty = batching({}, { attempts: 2 });
  await hasty.track(event(2));
  await hasty.flush();
  expect(failed).toMatchObject([[{ name: 'ServerError' }, [event(2)]]]);
  random.mockRestore();
  await Promise.all([beckon.close(), hasty.close()]);
});

test('batching › reports events that cannot be sent within totalMs', async () => {
  fake.fail({ status: 503, retryAfterS: 60, times: 1 });
  const beckon = batching({}, { totalMs: 30_000 });
  await beckon.track(event(1));
  await beckon.close();
  expect(failed).toMatchObject([[{ name: 'ServerError', status: 503 }, [event(1)]]]);
});

test('batching › rejects events beyond maxQueued, and all events after close', async () => {
  const beckon = batching({ maxQueued: 3 });
  for (const n of range(5)) await beckon.track(event(n));
  await beckon.close();
  await beckon.track(event(9));
  expect(failed.map(([{ code }, [first]]) => [code, first?.external_user_id])).toEqual([
    ['queue_overflow', 'u3'],
    ['queue_overflow', 'u4'],
    ['closed', 'u9'],
  ]);
  expect(order()).toEqual([0, 1, 2]);
});

test('close › ends at its timeout, and reports the events that were not sent', async () => {
  const beckon = batching({ maxRecords: 1 });
  fake.fail({ status: 503, retryAfterS: 60, times: 99 });
  for (const n of range(3)) await beckon.track(event(n));
  await expect.poll(() => fake.requests.length).toBe(1);
  await beckon.close({ timeoutMs: 1 });
  const never = 'The client was closed before this event was sent';
  const perhaps = 'The client was closed while this event was on its way: it may have been stored';
  expect(failed.map(([{ code, message }, [first]]) => [code, message, first?.external_user_id])).toEqual([
    ['closed', perhaps, 'u0'],
    ['closed', never, 'u1'],
    ['closed', never, 'u2'],
  ]);
  expect(failed.map(([{ idempotencyKey }]) => idempotencyKey)).toEqual([
    fake.requests[0]?.idempotencyKey,
    null,
    null,
  ]);
});

test('batching › reports the key under which an event that may be stored can be sent again without a duplicate', async () => {
  fake.fail({ drop: 'after' });
  const beckon = batching({}, { attempts: 1 });
  for (const n of range(3)) await beckon.track(event(n));
  await beckon.flush();
  const [[error, events] = []] = failed;
  expect(error).toMatchObject({ name: 'NetworkError' });
  await beckon.batch(events ?? [], { idempotencyKey: String(error?.idempotencyKey) });
  expect(order()).toEqual([0, 1, 2]);
  await beckon.close();
});

test('batching › sends queued events before the process exits', async () => {
  const script = `
    import { Beckon } from '${new URL('./index.ts', import.meta.url).href}';
    const batching = { maxWaitMs: 1e6, onError: console.error };
    const beckon = new Beckon({ apiKey: '${fake.apiKey}', url: '${fake.url}', batching });
    await beckon.track({ external_user_id: 'ada', name: 'user_signed_up' });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number];
  const ofAda = fake.events.filter(({ external_user_id }) => external_user_id === 'ada');
  expect([code, ofAda.length]).toEqual([0, 1]);
});
