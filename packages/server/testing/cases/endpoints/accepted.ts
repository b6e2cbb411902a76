import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { acceptance, bagOf, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, NOTHING_STORED, secondKey } from '../../servers/endpoint-server.ts';

/** Tests the properties of every 2xx response, for any endpoint. */
export function acceptsRecords(server: EndpointServer, facts: Facts): void {
  const bag = bagOf(facts);

  test('what is acknowledged is stored, as it was sent, before the answer', async () => {
    const caller = await newCaller(server, facts);
    const response = await caller.send();
    expect([response.status, response.json]).toEqual([facts.accepted, acceptance(facts)]);
    expect(await caller.stored()).toEqual({
      records: [record(facts)],
      chunks: [`${facts.kind === 'bulk' ? 'bulk' : 'live'} ${facts.stores}`],
      keys: 0,
      waiting: 1,
    });
  });

  test('every answer has an id of its own, the rate limit and no cause to retry', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 5, burst: 10 });
    const [first, second] = [await caller.send(), await caller.send()];
    expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
    expect(first.headers['ratelimit-policy']).toBe(`"${facts.name}";q=5;w=1`);
    expect(first.headers['ratelimit']).toBe(`"${facts.name}";r=9;t=1`);
    expect(second.headers['ratelimit']).toBe(`"${facts.name}";r=8;t=1`);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(first.headers['x-client-outdated']).toBeUndefined();
  });

  test('gzip, br, zstd and identity carry the same record', async () => {
    const caller = await newCaller(server, facts);
    const text = JSON.stringify(bodyOf(facts));
    const coded = {
      identity: text,
      gzip: gzipSync(text),
      br: brotliCompressSync(text),
      zstd: zstdCompressSync(text),
    };
    for (const [coding, body] of Object.entries(coded)) {
      const { status } = await caller.send({ body, headers: { 'Content-Encoding': coding } });
      expect([coding, status]).toEqual([coding, facts.accepted]);
    }
    expect((await caller.stored()).records).toEqual(Array(4).fill(record(facts)));
  });

  test('the scheme and the media type are read in any case; Accept is not read at all', async () => {
    const caller = await newCaller(server, facts);
    const dressed = [
      { Authorization: `bearer ${caller.secret}` },
      { Authorization: `BEARER ${caller.secret}` },
      { 'Content-Type': 'Application/JSON; Charset="UTF-8"' },
      { Accept: 'text/html' },
      { Accept: 'image/png;q=1, */*;q=0' },
      { 'Transfer-Encoding': 'chunked' },
    ];
    for (const headers of dressed) {
      const { status } = await caller.send({ headers });
      expect([headers, status]).toEqual([headers, facts.accepted]);
    }
  });

  test('a body of exactly the size limit is taken, compressed or not', async () => {
    const caller = await newCaller(server, facts);
    const body = JSON.stringify(bodyOf(facts)).padEnd(facts.bodyMaxBytes, ' ');
    expect((await caller.send({ body })).status).toBe(facts.accepted);
    const packed = { body: gzipSync(body), headers: { 'Content-Encoding': 'gzip' } };
    expect((await caller.send(packed)).status).toBe(facts.accepted);
    expect((await caller.stored()).records).toEqual(Array(2).fill(record(facts)));
  });

  test('a record of exactly 64 KiB is taken', async () => {
    const caller = await newCaller(server, facts);
    const empty = record(facts, { [bag]: { note: '' } });
    const note = 'é'.repeat((64 * 1024 - Buffer.byteLength(JSON.stringify(empty))) / 2);
    const odd = 64 * 1024 - Buffer.byteLength(JSON.stringify(record(facts, { [bag]: { note } })));
    const largest = record(facts, { [bag]: { note: note + 'x'.repeat(odd) } });
    expect(Buffer.byteLength(JSON.stringify(largest))).toBe(64 * 1024);
    expect((await caller.send({ body: bodyOf(facts, [largest]) })).json).toEqual(acceptance(facts));
    expect((await caller.stored()).records).toEqual([largest]);
  });

  test('unknown fields are ignored and never stored, one named suppressTriggersUntil too', async () => {
    const caller = await newCaller(server, facts);
    const unknown = { suppressTriggersUntil: '9999-12-31T23:59:59.999Z', later: { anything: [1] } };
    const body = { ...bodyOf(facts, [record(facts, unknown)]), ...unknown };
    expect((await caller.send({ body })).json).toEqual(acceptance(facts));
    expect((await caller.stored()).records).toEqual([record(facts)]);
  });

  test('__proto__ and constructor are plain keys of data, and text of every script comes through', async () => {
    const caller = await newCaller(server, facts);
    const free = '{"__proto__":{"admin":true},"constructor":{"prototype":1},"名前":"Ada 👩‍🚀 é"}';
    const text = JSON.stringify(record(facts)).replace(JSON.stringify(record(facts)[bag]), free);
    const body = facts.list === null ? text : `{"${facts.list}":[${text}],"__proto__":{"${facts.list}":[]}}`;
    expect((await caller.send({ body })).json).toEqual(acceptance(facts));
    const [stored] = (await caller.stored()).records;
    expect(JSON.stringify(stored)).toBe(text);
  });

  test('an id is kept unchanged: no trimming, no folding, 256 characters of any script', async () => {
    const caller = await newCaller(server, facts);
    const ids = [' U-1 ', '0', 'null', '👩'.repeat(256), 'sk_live_'];
    for (const id of ids) {
      const body = bodyOf(facts, [record(facts, { external_user_id: id })]);
      expect((await caller.send({ body })).status).toBe(facts.accepted);
    }
    const stored = (await caller.stored()).records as { external_user_id: string }[];
    expect(stored.map((row) => row.external_user_id)).toEqual(ids);
  });

  test('without an Idempotency-Key the same request is taken each time it comes', async () => {
    const caller = await newCaller(server, facts);
    const body = bodyOf(facts);
    await caller.send({ body });
    await caller.send({ body });
    expect(await caller.stored()).toMatchObject({ waiting: 2, keys: 0 });
  });

  test('a key writes into its own project and into no other', async () => {
    const [first, other] = [await newCaller(server, facts), await newCaller(server, facts)];
    await first.send();
    expect((await first.stored()).waiting).toBe(1);
    expect(await other.stored()).toEqual(NOTHING_STORED);
  });

  test('two keys of one project work at once', async () => {
    const caller = await newCaller(server, facts);
    const secret = await secondKey(server, caller.id);
    await Promise.all([caller.send(), caller.send({ secret })]);
    expect((await caller.stored()).records).toEqual([record(facts), record(facts)]);
  });
}
