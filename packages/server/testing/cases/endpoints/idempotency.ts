import { randomUUID } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import { bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, secondKey } from '../../servers/endpoint-server.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

function expectReplay(response: CheckedResponse, first: CheckedResponse): void {
  expect([response.status, response.text]).toEqual([first.status, first.text]);
  expect(response.headers['idempotent-replayed']).toBe('true');
}

/** Tests that one Idempotency-Key has one effect. At list endpoints the replayed response is that of a whole list. */
export function replaysResponses(server: EndpointServer, twin: EndpointServer, facts: Facts): void {
  const unusual = bodyOf(facts, [
    record(facts),
    ...(facts.kind === 'bulk' ? [{ name: 7 }, record(facts)] : []),
  ]);
  const records = facts.kind === 'bulk' ? 2 : 1;

  test('the same key and body again get the first answer, byte for byte, and nothing is done again', async () => {
    const caller = await newCaller(server, facts);
    const sending = { once: randomUUID(), body: unusual };
    const first = await caller.send(sending);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expectReplay(await caller.send(sending), first);
    expectReplay(await caller.send({ ...sending, at: twin }), first);
    expect(await caller.stored()).toMatchObject({ waiting: records, keys: 1 });
  });

  test('a hundred at once, over two servers, have one effect and one answer', async () => {
    const caller = await newCaller(server, facts);
    const sending = { once: randomUUID(), body: unusual };
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => caller.send({ ...sending, at: i % 2 ? twin : server })),
    );
    expect(new Set(responses.map((response) => `${response.status} ${response.text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(facts.accepted);
    expect(
      responses.filter((response) => response.headers['idempotent-replayed'] === undefined),
    ).toHaveLength(1);
    expect(await caller.stored()).toMatchObject({ waiting: records, keys: 1 });
  });

  test('white space, escapes, compression and the query string do not make another request', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const first = await caller.send({ once });
    const text = JSON.stringify(bodyOf(facts));
    const same = [
      { body: JSON.stringify(bodyOf(facts), null, 3) },
      { body: text.replace('u-1', '\\u0075-1') },
      { body: brotliCompressSync(text), headers: { 'Content-Encoding': 'br' } },
      { query: '?attempt=2' },
      { headers: { 'User-Agent': 'other/2.0.0', Accept: 'text/plain' } },
    ];
    for (const sending of same) expectReplay(await caller.send({ once, ...sending }), first);
    expect((await caller.stored()).waiting).toBe(1);
  });

  test('a UUID is one key in any case and in quotes; any other key is compared exactly, up to 255 characters', async () => {
    const caller = await newCaller(server, facts);
    const uuid = randomUUID();
    const first = await caller.send({ once: uuid });
    for (const once of [uuid.toUpperCase(), `"${uuid}"`]) expectReplay(await caller.send({ once }), first);
    for (const once of ['order-1', 'Order-1', '!', 'x'.repeat(255), `"${'y'.repeat(255)}"`]) {
      const fresh = await caller.send({ once });
      expect([fresh.status, fresh.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
      expectReplay(await caller.send({ once }), fresh);
    }
    expect(await caller.stored()).toMatchObject({ waiting: 6, keys: 6 });
  });

  test('a replay is charged to the rate limit like any request', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 1, burst: 3 });
    const once = randomUUID();
    const responses = [];
    for (let i = 0; i < 4; i += 1) responses.push(await caller.send({ once }));
    expect(responses.map((response) => response.status)).toEqual([...Array(3).fill(facts.accepted), 429]);
  });

  test('two keys of one project share the scope; two projects do not', async () => {
    const [caller, stranger] = [await newCaller(server, facts), await newCaller(server, facts)];
    const once = randomUUID();
    const first = await caller.send({ once });
    expectReplay(await caller.send({ once, secret: await secondKey(server, caller.id) }), first);
    const theirs = await stranger.send({ once });
    expect([theirs.status, theirs.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
    expect([await caller.stored(), await stranger.stored()]).toMatchObject([{ waiting: 1 }, { waiting: 1 }]);
  });

  test('the window is 24 hours from the first acceptance, and a replay does not move it', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const first = await caller.send({ once });
    server.clock.advance(DAY_MS - 1);
    expectReplay(await caller.send({ once }), first);
    server.clock.advance(1);
    const body = bodyOf(facts, [record(facts, { external_user_id: 'u-2' })]);
    const second = await caller.send({ once, body });
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
    expectReplay(await caller.send({ once, body, at: twin }), second);
    expect(await caller.stored()).toMatchObject({ waiting: 2, keys: 1 });
  });

  test('a refused request does not burn its key: the corrected body may use it', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const broken = facts.list === null ? bodyOf(facts, [{}]) : { [facts.list]: [] };
    const refusals = [
      await caller.send({ once, body: broken }),
      await caller.send({ once, body: '{' }),
      await caller.send({ once, headers: { 'Content-Type': 'text/plain' } }),
      await caller.send({ once, body: ' '.repeat(facts.bodyMaxBytes + 1) }),
      await caller.send({ once, secret: null }),
    ];
    expect(refusals.map((response) => response.status)).toEqual([
      facts.invalid,
      facts.invalid,
      415,
      413,
      401,
    ]);
    expect((await caller.stored()).keys).toBe(0);
    const response = await caller.send({ once });
    expect([response.status, response.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
  });
}
