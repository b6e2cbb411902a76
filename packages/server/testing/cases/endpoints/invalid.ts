import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import { bodyOf, type Facts } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, NOTHING_STORED } from '../../servers/endpoint-server.ts';

/** Expects a refusal of the whole request that names one field. */
export function expectInvalid(response: CheckedResponse, facts: Facts, field: string): void {
  expect([field, response.status, response.errors]).toEqual([
    field,
    facts.invalid,
    [{ code: 'validation_failed', message: expect.stringMatching(/./) as string, field }],
  ]);
  expect(response.headers['ratelimit']).toBeDefined();
}

const NOT_OBJECTS = ['null', 'true', '7', '"text"', '[]', '[{"external_user_id":"u","name":"n"}]'];
const NOT_JSON = [
  '{',
  '{}{}',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  '{"a":NaN}',
  '{"a":01}',
  '{"a":"\t"}',
  '{"a":"\\x41"}',
  '// {}',
  'undefined',
  '\u00a0{}',
  '\ufeff{}',
];

/** Tests bodies that are refused before any field is validated. */
export function refusesMalformedBodies(server: EndpointServer, facts: Facts): void {
  test(`no body, no JSON or no object is ${facts.invalid} with the field body, and nothing is stored`, async () => {
    const caller = await newCaller(server, facts);
    const bodies: (string | Uint8Array)[] = ['', ' \n', ...NOT_JSON, ...NOT_OBJECTS];
    bodies.push(Buffer.from(JSON.stringify(bodyOf(facts)), 'utf16le'));
    bodies.push(Buffer.from('{"external_user_id":"\xff","name":"x"}', 'latin1'));
    for (const body of bodies) expectInvalid(await caller.send({ body, once: 'k' }), facts, 'body');
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('an empty body is a fault of the body even without a Content-Type', async () => {
    const caller = await newCaller(server, facts);
    const headers = { 'Content-Type': undefined };
    expectInvalid(await caller.send({ body: '', headers }), facts, 'body');
  });

  test('compressed data that is cut short, corrupt or no such data at all is a fault of the body', async () => {
    const caller = await newCaller(server, facts);
    const packed = gzipSync(JSON.stringify(bodyOf(facts)));
    const corrupt = Buffer.from(packed).fill(0, 12, 16);
    const bodies = [packed.subarray(0, -6), corrupt, Buffer.concat([packed, Buffer.from('x')]), gzipSync('')];
    for (const body of bodies)
      expectInvalid(await caller.send({ body, headers: { 'Content-Encoding': 'gzip' } }), facts, 'body');
    for (const coding of ['gzip', 'br', 'zstd'])
      expectInvalid(await caller.send({ headers: { 'Content-Encoding': coding } }), facts, 'body');
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('an Idempotency-Key that is empty, too long, repeated or not visible ASCII is refused by its name', async () => {
    const caller = await newCaller(server, facts);
    for (const once of ['', '""', 'a b', 'a\tb', 'clé', 'x'.repeat(256), `"${'x'.repeat(256)}"`])
      expectInvalid(await caller.send({ once }), facts, 'Idempotency-Key');
    for (const twice of [
      ['a', 'b'],
      ['a', 'a'],
    ])
      expectInvalid(await caller.send({ headers: { 'Idempotency-Key': twice } }), facts, 'Idempotency-Key');
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('the body is parsed before the Idempotency-Key is read, and that before any field', async () => {
    const caller = await newCaller(server, facts);
    expectInvalid(await caller.send({ once: 'a b', body: '{' }), facts, 'body');
    expectInvalid(await caller.send({ once: 'a b', body: {} }), facts, 'Idempotency-Key');
  });
}

/** Tests the list around the records, at endpoints that have one. */
export function refusesBadEnvelopes(server: EndpointServer, facts: Facts): void {
  const list = facts.list ?? '';
  const records = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ external_user_id: `u${i}`, name: 'n' }));

  test(`${list} that is missing, no list, empty or above 1,000 is ${facts.invalid}, and nothing is stored`, async () => {
    const caller = await newCaller(server, facts);
    const lists = [undefined, null, {}, 'u-1', 7, true, { length: 1 }, [], records(1_001), records(5_000)];
    for (const value of lists)
      expectInvalid(await caller.send({ body: { [list]: value }, once: 'k' }), facts, list);
    const other = list === 'users' ? 'events' : 'users';
    expectInvalid(await caller.send({ body: { [other]: records(1) } }), facts, list);
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('a flaw beside the list is named by its path', async () => {
    const caller = await newCaller(server, facts);
    const good = { [list]: records(1) };
    expectInvalid(await caller.send({ body: { ...good, note: 'a\u0000b' } }), facts, 'note');
    expectInvalid(await caller.send({ body: { ...good, meta: { text: '\ud800' } } }), facts, 'meta.text');
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });
}

/** Tests `suppressTriggers` on the endpoints that take events as a list. */
export function refusesWrongSuppressTriggers(server: EndpointServer, facts: Facts): void {
  test('suppressTriggers that is no boolean is refused by its name, null too', async () => {
    const caller = await newCaller(server, facts);
    for (const suppressTriggers of [null, 'true', 1, 0, '', [], {}])
      expectInvalid(
        await caller.send({ body: { ...bodyOf(facts), suppressTriggers } }),
        facts,
        'suppressTriggers',
      );
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('every fault of the envelope is named, the list first', async () => {
    const caller = await newCaller(server, facts);
    const { status, errors } = await caller.send({ body: { suppressTriggers: 'yes', events: [] } });
    expect(status).toBe(facts.invalid);
    expect(errors.map((error) => error.field)).toEqual(['events', 'suppressTriggers']);
  });
}
