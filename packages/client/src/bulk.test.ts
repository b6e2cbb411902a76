import { runInNewContext } from 'node:vm';
import { REQUEST_MAX_VALUES } from '@beckon/contract';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Beckon, type BulkChunk, type BulkProgress, type User } from './index.ts';
import { createFakeServer, type FakeServer } from './testing.ts';

let fake: FakeServer;
let beckon: Beckon;

beforeAll(async () => {
  fake = await createFakeServer();
  beckon = new Beckon({ apiKey: fake.apiKey, url: fake.url });
});
afterEach(() => fake.reset());
afterAll(() => fake.close());

const idOf = (n: number): string => `u${n}`;
function* users(count: number): Generator<User> {
  for (let n = 0; n < count; n += 1) yield { external_user_id: idOf(n), traits: { n } };
}
const sizes = (): number[] =>
  fake.requests
    .filter(({ status }) => status === 200)
    .map(({ body }) => (body as { users: unknown[] }).users.length);

test('bulk › uploads an array, a generator and an async generator completely, in chunks of 1,000', async () => {
  async function* slowly(): AsyncGenerator<User> {
    for (const user of users(2_500)) yield await Promise.resolve(user);
  }
  for (const source of [[...users(2_500)], users(2_500), slowly()]) {
    fake.reset();
    const progress: BulkProgress[] = [];
    const report = await beckon.users.bulk(source, { onProgress: (now) => progress.push(now) });
    expect(report).toEqual({ received: 2_500, accepted: 2_500, rejected: 0, errors: [] });
    expect(fake.users.size).toBe(2_500);
    expect(sizes().toSorted((a, b) => b - a)).toEqual([1_000, 1_000, 500]);
    expect(progress.map(({ received }) => received).at(-1)).toBe(2_500);
  }
  expect(await beckon.users.bulk([])).toEqual({ received: 0, accepted: 0, rejected: 0, errors: [] });
});

test('bulk › awaits promises of another realm', async () => {
  const { resolve } = runInNewContext('({ resolve: (value) => Promise.resolve(value) })') as {
    resolve: <T>(value: T) => Promise<T>;
  };
  const generator = users(3);
  let calls = 0;
  const next = (): Promise<IteratorResult<User>> => {
    calls += 1;
    if (calls > 9) throw new Error('it asks for ever');
    return resolve(generator.next());
  };
  const source = { [Symbol.asyncIterator]: () => ({ next }) };
  expect(await beckon.users.bulk(source)).toMatchObject({ received: 3, accepted: 3 });
});

test('bulk › reports rejected records in order, with their index in the whole upload', async () => {
  const source = [...users(2_000)];
  source[3] = { external_user_id: '' };
  source[1_700] = { external_user_id: 'ada', email: 'nowhere' };
  // These two are never sent: one is too large, the other cannot be serialized as JSON.
  source[1_500] = { external_user_id: 'large', traits: { text: 'x'.repeat(65_536) } };
  source[1_600] = { external_user_id: 'odd', traits: { n: 1n as unknown as number } };
  const chunks: BulkChunk<User>[] = [];
  const report = await beckon.users.bulk(source, { onChunk: (chunk) => void chunks.push(chunk) });
  expect(report).toMatchObject({ received: 2_000, accepted: 1_996, rejected: 4 });
  expect(report.errors.map(({ index, field }) => [index, field])).toEqual([
    [3, 'external_user_id'],
    [1_500, 'traits'],
    [1_600, undefined],
    [1_700, 'email'],
  ]);
  expect(chunks.flatMap(({ rejected }) => rejected.map(({ item }) => item))).toEqual(
    [3, 1_500, 1_600, 1_700].map((index) => source[index]),
  );
  expect(chunks.map(({ first, records }) => [first, records])).toEqual([
    [0, 1_000],
    [1_000, 1_000],
  ]);
});

test('bulk › limits the size of a request body to what the server accepts', async () => {
  const text = 'x'.repeat(60_000);
  const large = Array.from({ length: 400 }, (_, n) => ({ external_user_id: idOf(n), traits: { text } }));
  expect(await beckon.users.bulk(large)).toMatchObject({ accepted: 400 });
  expect(sizes()).toHaveLength(3);
});

test('bulk › sends fewer records in a request when they hold more values than one may', async () => {
  const list = Array.from({ length: 400 }, (_, n) => ({ n }));
  const source = Array.from({ length: 1_000 }, (_, n) => ({ external_user_id: idOf(n), traits: { list } }));
  expect(await beckon.users.bulk(source)).toMatchObject({ received: 1_000, accepted: 1_000 });
  expect(Math.max(...sizes())).toBeLessThanOrEqual(REQUEST_MAX_VALUES / 800);
});

test('bulk › waits while the queue is full, and continues in smaller chunks, each with its own key', async () => {
  fake.queueFull({ times: 2, retryAfterS: 0 });
  const states: string[] = [];
  const report = await beckon.users.bulk(users(2_000), {
    concurrency: 1,
    onProgress: ({ state }) => states.push(state),
  });
  expect(report).toMatchObject({ received: 2_000, accepted: 2_000 });
  expect(fake.users.size).toBe(2_000);
  expect(states.slice(0, 3)).toEqual(['queue_full', 'queue_full', 'sending']);
  expect(sizes()[0]).toBeLessThan(1_000);
  const keys = fake.requests.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(keys.length);
});

test('bulk › fails with the error of the server when the queue stays full', async () => {
  fake.queueFull({ times: 99, retryAfterS: 60 });
  const upload = beckon.users.bulk(users(10), { patienceMs: 30_000 });
  await expect(upload).rejects.toMatchObject({ name: 'QueueFullError', code: 'backfill_queue_full' });
});

test('bulk › creates no duplicates after lost responses and failures', async () => {
  fake.fail({ drop: 'after', times: 2 });
  const events = Array.from({ length: 1_500 }, (_, n) => ({
    external_user_id: idOf(n),
    name: 'feature_used',
    properties: { n },
  }));
  const report = await beckon.events.bulk(events, { suppressTriggers: true });
  expect(report).toMatchObject({ accepted: 1_500 });
  expect(fake.events).toHaveLength(1_500);
  expect(fake.events.every(({ suppressed }) => suppressed)).toBe(true);
});

test('bulk › applies records of one user in their order with concurrent requests', async () => {
  const source = Array.from({ length: 40 }, (_, n) => ({ external_user_id: 'ada', traits: { n } }));
  // The first of two requests is retried. If both ran at the same time, it would be applied after the second.
  fake.fail({ status: 503, times: 1 });
  await beckon.users.bulk(source, { chunkRecords: 20, concurrency: 4 });
  expect(fake.users.get('ada')?.traits).toEqual({ n: 39 });
});

test('bulk › reports chunks in order, and sends none far ahead of the report', async () => {
  const reported: number[] = [];
  await beckon.users.bulk(users(100), {
    chunkRecords: 10,
    concurrency: 3,
    async onChunk({ first }) {
      expect(fake.users.size).toBeLessThanOrEqual(first + 30);
      await new Promise(setImmediate);
      reported.push(first);
    },
  });
  expect(reported).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
});

test('bulk › closes its source when it fails, and stops on a signal', async () => {
  let closed = 0;
  function* watched(): Generator<User> {
    try {
      yield* users(5_000);
    } finally {
      closed += 1;
    }
  }
  fake.fail({ status: 401, times: 9 });
  await expect(beckon.users.bulk(watched())).rejects.toMatchObject({ name: 'AuthError' });
  fake.reset();
  const controller = new AbortController();
  const onChunk = (): void => controller.abort(new Error('enough'));
  await expect(beckon.users.bulk(watched(), { onChunk, signal: controller.signal })).rejects.toThrow(
    'enough',
  );
  const onWrong = (): never => {
    throw new Error('the disk is full');
  };
  await expect(beckon.users.bulk(watched(), { onChunk: onWrong })).rejects.toThrow('the disk is full');
  expect(closed).toBe(3);
});
