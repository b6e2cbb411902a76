import { randomUUID } from 'node:crypto';
import type { Endpoint } from '@beckon/contract';
import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import { ALL_ENDPOINTS, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';

export function expectReuse(response: CheckedResponse): void {
  expect([response.status, response.errors]).toMatchObject([422, [{ code: 'idempotency_key_reuse' }]]);
  expect(response.headers['idempotent-replayed']).toBeUndefined();
}

/** Tests the same Idempotency-Key with another request. */
export function refusesReuse(server: EndpointServer, twin: EndpointServer, facts: Facts): void {
  test('the same key with another body is a reuse, on every server, and stores nothing', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    await caller.send({ once });
    const before = await caller.stored();
    const others = [
      bodyOf(facts, [record(facts, { external_user_id: 'u-2' })]),
      bodyOf(facts, [record(facts, { unknown: 1 })]),
      bodyOf(facts, [record(facts, { unknown: null })]),
      { ...bodyOf(facts), unknown: [1, 2] },
      { ...bodyOf(facts), unknown: [2, 1] },
    ];
    for (const body of others) expectReuse(await caller.send({ once, body }));
    for (const body of others) expectReuse(await caller.send({ once, body, at: twin }));
    expect(await caller.stored()).toEqual(before);
  });

  test('of two bodies that come with one key at once, one is taken and one is a reuse', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const other = bodyOf(facts, [record(facts, { external_user_id: 'u-2' })]);
    const responses = await Promise.all([
      caller.send({ once }),
      caller.send({ once, body: other }),
      caller.send({ once, at: twin }),
      caller.send({ once, body: other, at: twin }),
    ]);
    const statuses = responses.map((response) => response.status);
    expect(statuses.filter((status) => status === facts.accepted)).toHaveLength(2);
    expect(statuses.filter((status) => status === 422)).toHaveLength(2);
    expect(await caller.stored()).toMatchObject({ waiting: 1, keys: 1 });
  });

  test('a reuse is called so before the other body is found invalid', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    await caller.send({ once });
    const invalid = facts.list === null ? {} : { [facts.list]: [] };
    expectReuse(await caller.send({ once, body: invalid }));
    expectReuse(await caller.send({ once, body: invalid, at: twin }));
    expect((await caller.send({ once: randomUUID(), body: invalid })).status).toBe(facts.invalid);
  });

  test('one key on two endpoints is a reuse, though the body be the same', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const body = {
      ...record(facts),
      name: 'both',
      users: [{ external_user_id: 'u' }],
      events: [{ external_user_id: 'u', name: 'e' }],
    };
    expect((await caller.send({ once, body })).status).toBe(facts.accepted);
    const others: Endpoint[] = [];
    for (const other of ALL_ENDPOINTS.filter(({ name }) => name !== facts.name)) {
      const otherCaller = await newCaller(server, other);
      expectReuse(await otherCaller.send({ once, body, secret: caller.secret }));
      others.push(other.name);
    }
    expect(others).toHaveLength(4);
    expect((await caller.stored()).waiting).toBe(1);
  });
}
