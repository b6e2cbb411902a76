import { inspect } from 'node:util';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import * as client from './index.ts';
import { createFakeServer, type FakeServer } from './testing.ts';

const { Beckon } = client;
const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let fake: FakeServer;
let beckon: client.Beckon;

beforeAll(async () => {
  fake = await createFakeServer();
  beckon = new Beckon({ apiKey: fake.apiKey, url: fake.url });
});
afterEach(() => fake.reset());
afterAll(() => fake.close());

const ada = { external_user_id: 'ada', email: 'ada@example.com', traits: { plan: 'trial' } };
const signedUp = { external_user_id: 'ada', name: 'user_signed_up' } as const;

test('exports exactly these names', () => {
  expect(Object.keys(client).toSorted()).toEqual([
    'AuthError',
    'Beckon',
    'BeckonError',
    'IdempotencyError',
    'NetworkError',
    'QueueFullError',
    'RateLimitError',
    'ServerError',
    'SignatureError',
    'VERSION',
    'ValidationError',
    'webhooks',
  ]);
});

test('exports the version of package.json', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  expect((JSON.parse(text) as { version: string }).version).toBe(client.VERSION);
});

test('sends users and events unchanged', async () => {
  expect(await beckon.users.upsert(ada)).toMatchObject({ state: 'accepted', replayed: false });
  const at = new Date('2026-11-01T10:00:00Z');
  await beckon.track({ ...signedUp, occurred_at: at, properties: { plan: 'pro' } });
  await beckon.batch([{ ...signedUp, message_id: 'm1' }, signedUp], { suppressTriggers: true });
  expect([...fake.users.values()]).toEqual([ada]);
  expect(fake.events).toMatchObject([
    { name: 'user_signed_up', occurred_at: '2026-11-01T10:00:00.000Z', properties: { plan: 'pro' } },
    { message_id: 'm1', suppressed: true },
    { suppressed: true },
  ]);
});

describe('retries', () => {
  test.each([
    ['the connection ends before anything was done', { drop: 'before' }],
    ['the answer is lost', { drop: 'after' }],
    ['the server fails', { status: 500 }],
    ['the server is away', { status: 503 }],
    ['a proxy gave up waiting', { status: 408 }],
    ['there were too many requests', { status: 429, retryAfterS: 0 }],
  ] as const)('write once, with the same key, when %s', async (_, failure) => {
    fake.fail({ ...failure, times: 2 });
    await beckon.track(signedUp);
    const keys = fake.requests.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(V4);
    expect(fake.events).toHaveLength(1);
  });

  test.each([
    [401, client.AuthError],
    [403, client.AuthError],
    [404, client.BeckonError],
    [413, client.ValidationError],
  ])('do not happen after a %i', async (status, type) => {
    fake.fail({ status, times: 5 });
    const error: unknown = await beckon.track(signedUp).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status });
    expect(fake.requests).toHaveLength(1);
  });

  test('end with the error of the last attempt', async () => {
    const hasty = new Beckon({ apiKey: fake.apiKey, url: fake.url, retry: { attempts: 2 } });
    fake.fail({ status: 503, times: 9 });
    await expect(hasty.track(signedUp)).rejects.toMatchObject({ name: 'ServerError', code: 'server_error' });
    expect(fake.requests).toHaveLength(2);
    fake.fail({ drop: 'before', times: 9 });
    await expect(hasty.track(signedUp)).rejects.toMatchObject({ name: 'NetworkError', status: null });
    fake.fail({ status: 429, retryAfterS: 100, times: 9 });
    const brief = new Beckon({ apiKey: fake.apiKey, url: fake.url, retry: { totalMs: 20_000 } });
    await expect(brief.track(signedUp)).rejects.toMatchObject({
      name: 'RateLimitError',
      retryAfterMs: 100_000,
    });
  });

  test('do not count rate-limited attempts', async () => {
    const statuses = [429, 429, 429, 503];
    const troubled: typeof fetch = (url, init) => {
      const status = statuses.shift();
      const headers = { 'retry-after': '0.001' };
      return status === undefined ? fetch(url, init) : Promise.resolve(new Response('', { status, headers }));
    };
    const options = { apiKey: fake.apiKey, url: fake.url, retry: { attempts: 2 } };
    await new Beckon({ ...options, fetch: troubled }).track(signedUp);
    expect(statuses).toEqual([]);
    expect(fake.events).toHaveLength(1);
  });

  test('report the key for another attempt with each error', async () => {
    const hasty = new Beckon({ apiKey: fake.apiKey, url: fake.url, retry: { attempts: 1 } });
    for (const failure of [{ status: 503 }, { drop: 'after' }] as const) {
      fake.fail(failure);
      const error: unknown = await hasty.track(signedUp).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(client.BeckonError);
      const { idempotencyKey } = error as client.BeckonError;
      expect(idempotencyKey).toBe(fake.requests.at(-1)?.idempotencyKey);
      await hasty.track(signedUp, { idempotencyKey: String(idempotencyKey) });
    }
    expect(fake.events).toHaveLength(2);
    await expect(hasty.clock.advance('soon')).rejects.toMatchObject({ idempotencyKey: null });
  });

  test('time out when the server never answers, and end on a signal', async () => {
    const silent: typeof fetch = (_url, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const options = {
      apiKey: fake.apiKey,
      url: fake.url,
      fetch: silent,
      timeoutMs: 1,
      retry: { attempts: 1 },
    };
    await expect(new Beckon(options).track(signedUp)).rejects.toMatchObject({ code: 'timeout' });
    const controller = new AbortController();
    const tracked = new Beckon({ ...options, timeoutMs: 60_000 }).track(signedUp, {
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(tracked).rejects.toThrow('enough');
    await expect(beckon.track(signedUp, { signal: controller.signal })).rejects.toThrow('enough');
    expect(fake.requests).toEqual([]);
  });
});

test('reports the field of a rejected record, and a reused idempotency key', async () => {
  const wrong = beckon.users.upsert({ ...ada, email: 'nowhere' });
  await expect(wrong).rejects.toMatchObject({
    name: 'ValidationError',
    field: 'email',
    status: 422,
    requestId: expect.stringMatching(V4),
  });
  const idempotencyKey = crypto.randomUUID();
  await beckon.users.upsert(ada, { idempotencyKey });
  expect(await beckon.users.upsert(ada, { idempotencyKey })).toMatchObject({ replayed: true });
  await expect(beckon.users.upsert({ ...ada, traits: {} }, { idempotencyKey })).rejects.toBeInstanceOf(
    client.IdempotencyError,
  );
});

test('rejects responses that are not from Beckon', async () => {
  const respondWith = (body: string, status: number): typeof fetch =>
    vi.fn(async () => new Response(body, { status, headers: { location: 'https://elsewhere.example/' } }));
  const options = { apiKey: fake.apiKey, url: fake.url, retry: { attempts: 2 } };
  const page = respondWith('<html>Welcome</html>', 200);
  await expect(new Beckon({ ...options, fetch: page }).track(signedUp)).rejects.toThrow('is the URL right?');
  expect(page).toHaveBeenCalledTimes(2);
  const away = respondWith('', 308);
  await expect(new Beckon({ ...options, fetch: away }).track(signedUp)).rejects.toMatchObject({
    status: 308,
  });
  expect(away).toHaveBeenCalledTimes(1);
  const bulky = respondWith('{"data":{"accepted":7,"rejected":0,"errors":[]}}', 200);
  await expect(new Beckon({ ...options, fetch: bulky }).users.bulk([ada])).rejects.toThrow('account for');
});

test('shows the API key neither in errors nor when printed', async () => {
  const key = `sk_live_${'a'.repeat(40)}`;
  const other = new Beckon({ apiKey: key, url: fake.url });
  const error: unknown = await other.track(signedUp).catch((thrown: unknown) => thrown);
  const printed = [
    inspect(other, { depth: 9, showHidden: true }),
    inspect(error, { depth: 9 }),
    JSON.stringify(other),
  ];
  for (const text of printed) expect(text).not.toContain('aaaa');
});

test("sends its version and the caller's User-Agent", async () => {
  const seen: string[] = [];
  const spy: typeof fetch = (url, init) => {
    seen.push(new Headers(init?.headers).get('user-agent') ?? '');
    return fetch(url, init);
  };
  const options = { apiKey: fake.apiKey, url: `${fake.url}/`, fetch: spy };
  await new Beckon(options).track(signedUp);
  await new Beckon({ ...options, userAgent: 'acme-worker/1.2.0' }).track(signedUp);
  expect(seen).toEqual([
    `beckon-client/${client.VERSION}`,
    `beckon-client/${client.VERSION} acme-worker/1.2.0`,
  ]);
});

test('rejects invalid options in the constructor', () => {
  const right = { apiKey: fake.apiKey, url: fake.url };
  for (const [wrong, message] of [
    [{ apiKey: undefined }, 'apiKey is missing'],
    [{ apiKey: 'bkp_123' }, 'apiKey is not an API key'],
    [{ url: '' }, 'url is missing'],
    [{ url: 'beckon.example.com' }, 'url is no address'],
    [{ url: 'https://ada:secret@beckon.example.com' }, 'a name or a password'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ retry: { attempts: Number.NaN } }, 'retry.attempts'],
  ] as const)
    expect(() => new Beckon({ ...right, ...wrong })).toThrow(message);
  vi.stubGlobal('window', { document: {} });
  expect(() => new Beckon(right)).toThrow('runs on servers only');
  vi.unstubAllGlobals();
});

test('reads and advances the clock of a sandbox', async () => {
  const before = await beckon.clock.now();
  expect(await beckon.clock.advance('7d')).toMatchObject({ advanced_ms: 7 * 86_400_000 });
  expect((await beckon.clock.now()).getTime() - before.getTime()).toBeGreaterThanOrEqual(7 * 86_400_000);
  await expect(beckon.clock.advance('soon')).rejects.toMatchObject({ field: 'advance' });
  fake.fail({ status: 503 });
  await expect(beckon.clock.advance('1d')).rejects.toBeInstanceOf(client.ServerError);
  expect(fake.requests.filter(({ status }) => status === 503)).toHaveLength(1);
});
