import { FAULT_MESSAGES } from '@beckon/contract';
import { expect, test } from 'vitest';
import { revokeKey } from '../../../src/modules/ingest/keys/change-key.ts';
import type { CheckedResponse } from '../../servers/http-client.ts';
import type { Facts } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, NOTHING_STORED, secondKey } from '../../servers/endpoint-server.ts';
import { outcomesOf } from './responses.ts';

function expectUnauthorised(response: CheckedResponse): void {
  const { status, errors } = response;
  expect([status, errors]).toEqual([401, [{ code: 'auth_required', message: FAULT_MESSAGES.auth_required }]]);
  expect(response.headers['ratelimit']).toBeUndefined();
}

const RANDOM = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0';

/** Tests every request other than one with a single `Authorization: Bearer <live key>`. */
export function refusesStrangers(server: EndpointServer, facts: Facts): void {
  test('a missing, malformed, wrongly prefixed or unknown key is 401, all with one answer', async () => {
    const caller = await newCaller(server, facts);
    const { secret } = caller;
    const headers = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      secret,
      `Basic ${secret}`,
      `Bearer  ${secret}`,
      `Bearer\t${secret}`,
      `Bearer ${secret} x`,
      `Bearer ${secret},`,
      `Bearer "${secret}"`,
      `Token ${secret}`,
      `Bearer ${secret.toUpperCase()}`,
      `Bearer ${secret}x`,
      `Bearer ${secret.slice(0, -1)}`,
      `Bearer ${secret.replace('sk_live_', 'sk_test_')}`,
      `Bearer ${secret.replace('sk_live_', 'pk_live_')}`,
      `Bearer ${secret.replace('sk_live_', '')}`,
      `Bearer sk_live_${RANDOM}`,
      `Bearer sk_test_${RANDOM}`,
      `Bearer sk_live_${RANDOM.slice(0, 31)}`,
      `Bearer sk_live_${'x'.repeat(129)}`,
      // Matches the displayed parts of a key and differs in the rest.
      `Bearer sk_live_${RANDOM.slice(4)}${secret.slice(-4)}`,
    ];
    for (const Authorization of headers)
      expectUnauthorised(await caller.send({ headers: { Authorization } }));
    expect(await caller.stored()).toEqual(NOTHING_STORED);
    expect((await caller.send()).status).toBe(facts.accepted);
  });

  test('a key in the query string or in the body opens nothing', async () => {
    const caller = await newCaller(server, facts);
    const { secret } = caller;
    for (const name of ['api_key', 'key', 'access_token', 'token', 'authorization', 'Authorization'])
      expectUnauthorised(await caller.send({ secret: null, query: `?${name}=${secret}` }));
    expectUnauthorised(
      await caller.send({ secret: null, headers: { 'X-Api-Key': secret, Cookie: `key=${secret}` } }),
    );
    expectUnauthorised(await caller.send({ secret: null, body: { authorization: `Bearer ${secret}` } }));
    const strange = `Bearer sk_live_${RANDOM}`;
    expectUnauthorised(
      await caller.send({ query: `?api_key=${secret}`, headers: { Authorization: strange } }),
    );
    expect((await caller.send({ query: `?api_key=sk_live_${RANDOM}` })).status).toBe(facts.accepted);
  });

  test('two Authorization headers are none', async () => {
    const caller = await newCaller(server, facts);
    const [right, wrong] = [`Bearer ${caller.secret}`, `Bearer sk_live_${RANDOM}`];
    for (const Authorization of [
      [right, wrong],
      [wrong, right],
      [right, right],
    ])
      expectUnauthorised(await caller.send({ headers: { Authorization } }));
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('without a key nothing else about a request is looked at', async () => {
    const caller = await newCaller(server, facts);
    const wrongs = [
      { headers: { 'Content-Type': 'text/plain' } },
      { headers: { 'Content-Encoding': 'compress' } },
      { body: ' '.repeat(facts.bodyMaxBytes + 1) },
      { body: '{' },
      { body: {} },
      { once: 'a b' },
    ];
    for (const wrong of wrongs) expectUnauthorised(await caller.send({ ...wrong, secret: null }));
  });
}

/** Tests that a key revoked at one server is refused at the other from the next request on, whatever its response would have been. */
export function refusesRevokedKeys(server: EndpointServer, twin: EndpointServer, facts: Facts): void {
  for (const outcome of outcomesOf(facts)) {
    test(`a key revoked on another server is refused at the next request: ${outcome.name}`, async () => {
      const caller = await newCaller(server, facts);
      const sending = { ...(await outcome.prepare(caller, twin)), at: twin };
      expect((await caller.send(sending)).status).toBe(outcome.status);
      const before = await caller.stored();
      await revokeKey(server.db, { id: caller.keyId });
      expectUnauthorised(await caller.send(sending));
      expectUnauthorised(await caller.send(sending));
      expect(await caller.stored()).toEqual(before);
    });
  }

  test('a revoked key stays revoked, and the other keys of its project work on', async () => {
    const caller = await newCaller(server, facts);
    await caller.send({ at: twin });
    const secret = await secondKey(server, caller.id);
    expect((await caller.send({ secret, at: twin })).status).toBe(facts.accepted);
    await revokeKey(server.db, { id: caller.keyId });
    expectUnauthorised(await caller.send({ at: twin }));
    expect((await caller.send({ secret, at: twin })).status).toBe(facts.accepted);
    server.clock.advance(365 * 24 * 3_600_000);
    expectUnauthorised(await caller.send({ at: twin }));
  });

  test('of requests on their way while the key is revoked, each is stored and answered so, or neither', async () => {
    const caller = await newCaller(server, facts);
    await caller.send({ at: twin });
    const sent = Array.from({ length: 40 }, (_, i) => caller.send({ at: i % 2 ? twin : server }));
    await revokeKey(server.db, { id: caller.keyId });
    expectUnauthorised(await caller.send({ at: twin }));
    const responses = await Promise.all(sent);
    const successes = responses.filter((response) => response.status === facts.accepted);
    for (const response of responses) if (!successes.includes(response)) expectUnauthorised(response);
    expect((await caller.stored()).waiting).toBe(1 + successes.length);
  });
}
