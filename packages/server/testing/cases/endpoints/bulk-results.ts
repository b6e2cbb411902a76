import { randomUUID } from 'node:crypto';
import type { BulkResult } from '@beckon/contract';
import { expect, test } from 'vitest';
import { acceptance, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';
import { flawsFor } from './flawed-records.ts';

/** Tests partial success, which only bulk endpoints have. */
export function reportsEachRecord(server: EndpointServer, facts: Facts): void {
  const good = (i: number) => record(facts, { external_user_id: `u-${i}` });

  test('every flawed record is named once, by its index and the path in it; its neighbours are stored in order', async () => {
    const caller = await newCaller(server, facts);
    const flaws = flawsFor(facts);
    const records = flaws.flatMap(([, more], i) => [good(i), record(facts, more)]);
    const { status, json } = await caller.send({ body: bodyOf(facts, records) });
    expect(status).toBe(200);
    const { data, meta } = json as BulkResult;
    expect(data.errors.map(({ index, field }) => [index, field])).toEqual(
      flaws.map(([, , field], i) => [2 * i + 1, field]),
    );
    for (const error of data.errors) {
      expect(error).toMatchObject({ code: 'validation', message: expect.stringMatching(/./) as string });
      expect(Object.keys(error).toSorted()).toEqual(['code', 'field', 'index', 'message']);
    }
    expect([data.accepted, data.rejected, meta.received]).toEqual([
      flaws.length,
      flaws.length,
      2 * flaws.length,
    ]);
    expect((await caller.stored()).records).toEqual(flaws.map((_, i) => good(i)));
  });

  test('a request of bad records only is 200 with nothing accepted, and its answer is replayed too', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const sending = {
      once,
      body: bodyOf(facts, [null, 7, 'text', [], {}, record(facts, { external_user_id: 1 })]),
    };
    const first = await caller.send(sending);
    expect(first.status).toBe(200);
    const { data, meta } = first.json as BulkResult;
    expect([data.accepted, data.rejected, meta.received]).toEqual([0, 6, 6]);
    expect(data.errors.map((error) => error.index)).toEqual([0, 1, 2, 3, 4, 5]);
    const again = await caller.send(sending);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(await caller.stored()).toMatchObject({ records: [], waiting: 0, keys: 1 });
  });

  test('a thousand records are one request, and a thousand rejects are all named', async () => {
    const caller = await newCaller(server, facts);
    const many = Array.from({ length: 1_000 }, (_, i) => good(i));
    expect((await caller.send({ body: bodyOf(facts, many) })).json).toEqual(acceptance(facts, 1_000));
    expect(await caller.stored()).toMatchObject({ records: many, waiting: 1_000 });
    const { data, meta } = (await caller.send({ body: bodyOf(facts, Array(1_000).fill({})) }))
      .json as BulkResult;
    expect([data.accepted, data.rejected, data.errors.length, meta.received]).toEqual([
      0, 1_000, 1_000, 1_000,
    ]);
  });

  test('a body of almost 10 MiB in a thousand records is taken whole', async () => {
    const caller = await newCaller(server, facts);
    const bag = facts.stores === 'users' ? 'traits' : 'properties';
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      ...good(i),
      [bag]: { note: 'x'.repeat(10_300) },
    }));
    expect((await caller.send({ body: bodyOf(facts, many) })).json).toEqual(acceptance(facts, 1_000));
    expect((await caller.stored()).records).toEqual(many);
  });

  test('a chunk sent again without an Idempotency-Key is taken again, as it may be', async () => {
    const caller = await newCaller(server, facts);
    const [first, second] = [await caller.send(), await caller.send()];
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect((await caller.stored()).waiting).toBe(2);
  });
}
