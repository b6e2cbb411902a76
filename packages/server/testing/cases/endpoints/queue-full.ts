import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import { bodyOf, EVENTS, EVENTS_BATCH, type Facts, record, USERS } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';
import { expectInvalid } from './invalid.ts';
import { expectReuse } from './key-reuse.ts';

function expectFull(response: CheckedResponse): number {
  const { status, errors, headers } = response;
  expect([status, errors]).toMatchObject([429, [{ code: 'backfill_queue_full' }]]);
  const seconds = Number(headers['retry-after']);
  expect(seconds).toBeGreaterThanOrEqual(5);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(headers['ratelimit']).toBeDefined();
  return seconds;
}

/** Tests the cap of 50,000 waiting records per project. */
export function keepsTheQueueCap(server: EndpointServer, twin: EndpointServer, facts: Facts): void {
  test('at 49,999 waiting a chunk is taken whole, at 50,000 none is', async () => {
    const caller = await newCaller(server, facts);
    const body = bodyOf(facts, Array(1_000).fill(record(facts)));
    await caller.fillQueue(49_999);
    expect((await caller.send({ body })).status).toBe(200);
    expect((await caller.stored()).waiting).toBe(50_999);
    await caller.fillQueue(50_000);
    expectFull(await caller.send({ once: 'k' }));
    expect(await caller.stored()).toMatchObject({ waiting: 50_000, keys: 0 });
    await caller.fillQueue(49_999);
    const response = await caller.send({ once: 'k' });
    expect([response.status, response.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });

  test('the cap is exact over two servers that race for the last places', async () => {
    const caller = await newCaller(server, facts);
    await caller.fillQueue(49_995);
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, i) => caller.send({ once: randomUUID(), at: i % 2 ? twin : server })),
    );
    const refused = responses.filter((response) => response.status !== 200);
    for (const response of refused) expectFull(response);
    expect(refused).toHaveLength(25);
    expect(await caller.stored()).toMatchObject({ waiting: 50_000, keys: 5 });
  });

  test('a bad envelope, a reuse and a replay are answered before the gate; bad records are not', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const first = await caller.send({ once });
    await caller.fillQueue(50_000);
    expectInvalid(await caller.send({ body: { [String(facts.list)]: [] } }), facts, String(facts.list));
    expectInvalid(await caller.send({ body: '{' }), facts, 'body');
    const replay = await caller.send({ once, at: twin });
    expect([replay.status, replay.text]).toEqual([200, first.text]);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expectReuse(await caller.send({ once, body: bodyOf(facts, [{ other: 1 }]) }));
    expectFull(await caller.send({ body: bodyOf(facts, [{ bad: 1 }]) }));
  });

  test('the gate holds bulk only: single and batch are taken beside a full queue', async () => {
    const caller = await newCaller(server, facts);
    await caller.fillQueue(50_000);
    expectFull(await caller.send());
    for (const other of [USERS, EVENTS, EVENTS_BATCH]) {
      const otherCaller = await newCaller(server, other);
      expect((await otherCaller.send({ secret: caller.secret })).status).toBe(202);
    }
    expect((await caller.stored()).waiting).toBe(50_003);
  });

  test('one project with a full queue holds up no other', async () => {
    const [caller, neighbour] = [await newCaller(server, facts), await newCaller(server, facts)];
    await caller.fillQueue(50_000);
    expectFull(await caller.send());
    expect((await neighbour.send()).status).toBe(200);
  });

  test('Retry-After follows the pace at which the queue was seen to drain', async () => {
    const caller = await newCaller(server, facts);
    await caller.fillQueue(52_000);
    expectFull(await caller.send());
    server.clock.advance(10_000);
    await caller.fillQueue(51_500);
    // At 50 per second a chunk of 1,000 needs twenty seconds.
    expect(expectFull(await caller.send())).toBe(20);
    server.clock.advance(10_000);
    expect(expectFull(await caller.send())).toBe(60);
  });
}
