import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import type { Facts } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';
import { outcomesOf } from './responses.ts';
import { withoutDatabase } from '../../factories/database.ts';

function expectUnavailable(response: CheckedResponse): void {
  expect([response.status, response.errors[0]?.code]).toEqual([503, 'server_error']);
  expect(response.headers['retry-after']).toBeDefined();
}

/** Tests the responses while the database is down, and after it is back. */
export function survivesOutages(server: EndpointServer, facts: Facts): void {
  test('while the database is gone a request is 503 and nothing is stored; its retry is the first', async () => {
    const caller = await newCaller(server, facts);
    const sending = { once: randomUUID() };
    await caller.send();
    const before = await caller.stored();
    await withoutDatabase(server.database, async () => {
      expectUnavailable(await caller.send(sending));
      expectUnavailable(await caller.send(sending));
      expectUnavailable(await caller.send());
    });
    expect(await caller.stored()).toEqual(before);
    const response = await caller.send(sending);
    expect([response.status, response.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
    expect((await caller.send(sending)).headers['idempotent-replayed']).toBe('true');
    expect(await caller.stored()).toMatchObject({ waiting: before.waiting + 1, keys: 1 });
  });

  test('a key that was never seen is 503 while the database is gone, not 401 and not a bug', async () => {
    const caller = await newCaller(server, facts);
    await withoutDatabase(server.database, async () => {
      expectUnavailable(await caller.send());
      const unknown = `sk_live_${'0'.repeat(40)}`;
      expectUnavailable(await caller.send({ secret: unknown }));
    });
    expect((await caller.send()).status).toBe(facts.accepted);
  });

  test('no answer rests on a remembered key while it cannot be asked for, whatever the request', async () => {
    for (const outcome of outcomesOf(facts)) {
      const caller = await newCaller(server, facts);
      const sending = await outcome.prepare(caller, server);
      expect((await caller.send(sending)).status).toBe(outcome.status);
      await withoutDatabase(server.database, async () => {
        const response = await caller.send(sending);
        expect([outcome.name, response.status]).toEqual([outcome.name, 503]);
      });
      expect((await caller.send(sending)).status).toBe(outcome.status);
    }
  });

  test('without the database what needs none is still answered, and readiness says what is wrong', async () => {
    const caller = await newCaller(server, facts);
    await withoutDatabase(server.database, async () => {
      expect((await caller.send({ secret: null })).status).toBe(401);
      expect((await caller.send({ method: 'GET' })).status).toBe(405);
      expect((await caller.send({ path: `${facts.path}/` })).status).toBe(404);
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
}
