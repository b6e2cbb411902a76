import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import { ALL_ENDPOINTS, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, secondKey } from '../../servers/endpoint-server.ts';

function expectLimited(response: CheckedResponse, retryAfterS: number): void {
  const { status, errors, headers } = response;
  expect([status, errors]).toMatchObject([429, [{ code: 'rate_limited' }]]);
  expect(headers['retry-after']).toBe(String(retryAfterS));
  expect(headers['ratelimit']).toMatch(new RegExp(`;r=0;t=${retryAfterS}$`));
}

/** Tests the token bucket of one project at one endpoint. */
export function limitsRates(server: EndpointServer, twin: EndpointServer, facts: Facts): void {
  test('the burst is exact over two servers, and what is refused is not stored', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 1, burst: 10 });
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, i) => caller.send({ once: `k${i}`, at: i % 2 ? twin : server })),
    );
    const refused = responses.filter((response) => response.status !== facts.accepted);
    for (const response of refused) expectLimited(response, 1);
    expect(refused).toHaveLength(20);
    expect(await caller.stored()).toMatchObject({ waiting: 10, keys: 10 });
  });

  test('Retry-After is the time until the next token, and a request at that time is taken', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 0.1, burst: 1 });
    expect((await caller.send()).status).toBe(facts.accepted);
    const refused = await caller.send({ once: 'k' });
    expectLimited(refused, 10);
    expect(refused.headers['ratelimit-policy']).toBe(`"${facts.name}";q=1;w=10`);
    server.clock.advance(9_999);
    expectLimited(await caller.send({ once: 'k' }), 1);
    server.clock.advance(1);
    const response = await caller.send({ once: 'k' });
    expect([response.status, response.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
  });

  test('one endpoint of one project is limited: no other endpoint, no other project', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 0.001, burst: 1 });
    await caller.send();
    expect((await caller.send()).status).toBe(429);
    for (const other of ALL_ENDPOINTS.filter(({ name }) => name !== facts.name)) {
      const otherCaller = await newCaller(server, other);
      const { status } = await otherCaller.send({ secret: caller.secret });
      expect([other.name, status]).toEqual([other.name, other.accepted]);
    }
    expect((await (await newCaller(server, facts)).send()).status).toBe(facts.accepted);
  });

  test('429 is said before the media type, the size, the syntax and the Idempotency-Key are looked at', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 0.001, burst: 1 });
    await caller.send({ once: 'k' });
    const wrongs = [
      { once: 'k' },
      { once: 'k', body: bodyOf(facts, [record(facts, { external_user_id: 'other' })]) },
      { headers: { 'Content-Type': 'text/plain' } },
      { headers: { 'Content-Encoding': 'compress' } },
      { body: ' '.repeat(facts.bodyMaxBytes + 1) },
      { body: '{' },
      { once: 'a b' },
      { body: {} },
    ];
    for (const wrong of wrongs) expectLimited(await caller.send(wrong), 1_000);
    expect((await caller.stored()).waiting).toBe(1);
  });

  test('what is refused for other reasons is charged; what has no key is not', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 0.001, burst: 3 });
    for (let i = 0; i < 5; i += 1) await caller.send({ secret: null });
    expect((await caller.send({ body: '{' })).headers['ratelimit']).toContain(';r=2;');
    expect((await caller.send({ body: {} })).headers['ratelimit']).toContain(';r=1;');
    expect((await caller.send()).headers['ratelimit']).toContain(';r=0;');
    expectLimited(await caller.send(), 1_000);
  });

  test('two keys of one project share the bucket', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 0.001, burst: 2 });
    const second = await secondKey(server, caller.id);
    expect((await caller.send()).status).toBe(facts.accepted);
    expect((await caller.send({ secret: second })).status).toBe(facts.accepted);
    expectLimited(await caller.send(), 1_000);
    expectLimited(await caller.send({ secret: second }), 1_000);
  });
}
