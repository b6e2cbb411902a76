import { gzipSync } from 'node:zlib';
import { type BatchAccepted, type BulkResult, JSON_MAX_NUMBER_CHARS } from '@beckon/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bombs } from '../../../../testing/factories/costly-inputs.ts';
import { expectInvalid } from '../../../../testing/cases/endpoints/invalid.ts';
import { expectReuse } from '../../../../testing/cases/endpoints/key-reuse.ts';
import { headOf } from '../../../../testing/cases/endpoints/body-refused.ts';
import { type CheckedResponse, sendRawRequest } from '../../../../testing/servers/http-client.ts';
import {
  ALL_ENDPOINTS,
  acceptance,
  bagOf,
  bodyOf,
  type Facts,
  record,
} from '../../../../testing/factories/endpoints.ts';
import {
  type Caller,
  endpointServer,
  newCaller,
  NOTHING_STORED,
  type SendOptions,
} from '../../../../testing/servers/endpoint-server.ts';

const server = await endpointServer();
const timeouts = { headersMs: 200, requestMs: 300, checkEveryMs: 20 };
const hurried = await endpointServer({
  database: server.database,
  clock: server.clock,
  listen: { timeouts },
});
const port = server.ports.http ?? 0;

const CAN_HOLD = 100_000;

/** A body that JSON.stringify could not write: `free` is the text of the record's free-form field. */
function withText(facts: Facts, free: string): string {
  const text = JSON.stringify(bodyOf(facts, [record(facts, { [bagOf(facts)]: 'HERE' })]));
  return text.replace('"HERE"', free);
}

/** Expects the field of the one invalid record, in the refusal or, for bulk, in the result. */
function expectRecordFault(response: CheckedResponse, facts: Facts, field: string): void {
  if (facts.kind !== 'bulk') {
    const at = facts.kind === 'batch' ? 'events.0.' : '';
    expect([response.status, response.errors[0]?.code, response.errors[0]?.field]).toEqual([
      422,
      'validation_failed',
      at + field,
    ]);
    return;
  }
  const { data } = response.json as BulkResult;
  expect([response.status, data.accepted, data.errors]).toEqual([
    200,
    0,
    [{ index: 0, code: 'validation', message: expect.stringMatching(/./) as string, field }],
  ]);
}

test.each(ALL_ENDPOINTS)('$path: refuses JSON of depth 100,000 as a whole', async (facts) => {
  const caller = await newCaller(server, facts);
  const deep = '['.repeat(CAN_HOLD) + ']'.repeat(CAN_HOLD);
  const inRecord = withText(facts, `{"x":${deep}}`);
  const beside = withText(facts, '{}').replace(/^\{/, `{"beside":${deep},`);
  for (const once of [undefined, 'k', 'k']) {
    const send = (body: string) => caller.send({ ...(once === undefined ? {} : { once }), body });
    expectInvalid(await send(deep), facts, 'body');
    expectInvalid(await send('['.repeat(CAN_HOLD)), facts, 'body');
    expectInvalid(await send('{"a":'.repeat(CAN_HOLD / 2)), facts, 'a');
    expectInvalid(await send(inRecord), facts, facts.list ?? bagOf(facts));
    expectInvalid(await send(beside), facts, 'beside');
  }
  expect(await caller.stored()).toEqual(NOTHING_STORED);
});

test.each(ALL_ENDPOINTS)(
  '$path: uses the last of duplicate keys, in the check and in storage',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const good = JSON.stringify(record(facts));
    const badFirst = good.replace('{', '{"external_user_id":7,');
    const badLast = good.replace(/\}$/, ',"external_user_id":7}');
    const around = (text: string): string => (facts.list === null ? text : `{"${facts.list}":[${text}]}`);
    expect((await caller.send({ body: around(badFirst) })).json).toEqual(acceptance(facts));
    expectRecordFault(await caller.send({ body: around(badLast) }), facts, 'external_user_id');
    if (facts.list !== null) {
      const lists = `{"${facts.list}":[${good}],"${facts.list}":[]}`;
      expectInvalid(await caller.send({ body: lists }), facts, facts.list);
    }
    expect((await caller.stored()).records).toEqual([record(facts)]);
  },
);

test.each(ALL_ENDPOINTS)('$path: refuses a number beyond a double by its path', async (facts) => {
  const caller = await newCaller(server, facts);
  const bag = bagOf(facts);
  for (const number of ['1e400', '-1e400', '9'.repeat(400), `1${'0'.repeat(JSON_MAX_NUMBER_CHARS - 1)}`])
    expectRecordFault(await caller.send({ body: withText(facts, `{"x":[${number}]}`) }), facts, `${bag}.x.0`);
  const tooLong = withText(facts, `{"x":[1${'0'.repeat(JSON_MAX_NUMBER_CHARS)}]}`);
  expectInvalid(await caller.send({ body: tooLong }), facts, facts.list ?? bag);
  expect(await caller.stored()).toEqual(NOTHING_STORED);
  for (const number of ['1e308', '-0', '1e-400', '12345678901234567890'])
    expect((await caller.send({ body: withText(facts, `{"x":${number}}`) })).json).toEqual(acceptance(facts));
});

test.each(ALL_ENDPOINTS)(
  '$path: takes a number beyond a double and null as different bodies',
  async (facts) => {
    const caller = await newCaller(server, facts);
    await caller.send({ once: 'k', body: withText(facts, '{"x":null}') });
    expectReuse(await caller.send({ once: 'k', body: withText(facts, '{"x":1e400}') }));
  },
);

test.each(ALL_ENDPOINTS)(
  '$path: refuses a BOM, UTF-16, UTF-32 and invalid UTF-8 as faults of the body',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const text = JSON.stringify(bodyOf(facts));
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    const bytes = (...list: number[]): Buffer =>
      Buffer.from(text.replace('u-1', 'u@1')).fill(
        Buffer.from(list),
        text.indexOf('u-1'),
        text.indexOf('u-1') + 3,
      );
    const bodies = [
      `\ufeff${text}`,
      utf16,
      Buffer.from(utf16).swap16(),
      Buffer.from(text.replaceAll(/./gs, '\0\0\0$&')),
      // A surrogate in UTF-8, an overlong slash, above U+10FFFF, a lone continuation, and a raw NUL.
      bytes(0xed, 0xa0, 0x80),
      bytes(0xc0, 0xaf, 0x41),
      bytes(0xf5, 0x80, 0x80),
      bytes(0x41, 0x80, 0x41),
      bytes(0x41, 0x00, 0x41),
    ];
    for (const body of bodies) {
      expectInvalid(await caller.send({ body, once: 'k' }), facts, 'body');
      expectInvalid(
        await caller.send({ body: gzipSync(body), headers: { 'Content-Encoding': 'gzip' } }),
        facts,
        'body',
      );
    }
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  },
);

test.each(ALL_ENDPOINTS)(
  '$path: names the path of NUL and of lone surrogates, and accepts a surrogate pair',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const bag = bagOf(facts);
    for (const escape of ['\\u0000', '\\ud800', '\\udc00', '\\udc00\\ud800', '\\uD83D x'])
      expectRecordFault(await caller.send({ body: withText(facts, `{"x":"${escape}"}`) }), facts, `${bag}.x`);
    expectRecordFault(await caller.send({ body: withText(facts, '{"x":{"\\ud800":1}}') }), facts, `${bag}.x`);
    expect(await caller.stored()).toEqual(NOTHING_STORED);
    const pair = withText(facts, '{"x":"\\ud83d\\udc69","y":"\\\\u0000"}');
    expect((await caller.send({ body: pair })).json).toEqual(acceptance(facts));
  },
);

test.each(ALL_ENDPOINTS)('$path: names body for a fault that belongs to no field', async (facts) => {
  const caller = await newCaller(server, facts);
  const flaws: Record<string, unknown>[] = [
    { ['k'.repeat(256)]: 1 },
    { 'a\u0000': 1 },
    { '\ud800': 1 },
    Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`k${n}`, n])),
  ];
  for (const flaw of flaws)
    expectInvalid(await caller.send({ body: { ...bodyOf(facts), ...flaw } }), facts, 'body');
  expect(await caller.stored()).toEqual(NOTHING_STORED);
});

test.each(ALL_ENDPOINTS)(
  '$path: ignores __proto__ in a record, and keeps it from affecting the next one',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const lent = `{"__proto__":${JSON.stringify(record(facts))}}`;
    const around = facts.list === null ? lent : `{"${facts.list}":[${lent}]}`;
    expectRecordFault(await caller.send({ body: around }), facts, 'external_user_id');
    const constructed = lent.replace('"__proto__":', '"constructor":{"prototype":').replace(/\}$/, '}}');
    const body = facts.list === null ? constructed : `{"${facts.list}":[${constructed}]}`;
    expectRecordFault(await caller.send({ body }), facts, 'external_user_id');
    if (facts.list !== null) {
      const lists = `{"__proto__":{"${facts.list}":[${JSON.stringify(record(facts))}]}}`;
      expectInvalid(await caller.send({ body: lists }), facts, facts.list);
    }
    expect(({} as Record<string, unknown>)['external_user_id']).toBeUndefined();
    expect(await caller.stored()).toMatchObject({ records: [], waiting: 0 });
  },
);

test.each(ALL_ENDPOINTS)(
  '$path: answers 413 to 42 KB that inflate to 4 GB, in every coding',
  async (facts) => {
    const caller = await newCaller(server, facts);
    for (const [coding, body] of Object.entries(await bombs())) {
      expect(body.length).toBeLessThanOrEqual(43_008);
      const { status, errors } = await caller.send({
        body,
        once: 'k',
        headers: { 'Content-Encoding': coding },
      });
      expect([coding, status, errors[0]?.code]).toEqual([coding, 413, 'payload_too_large']);
      const { errors: stacked } = await caller.send({
        body: gzipSync(body),
        headers: { 'Content-Encoding': `${coding}, gzip` },
      });
      expect(stacked[0]?.code).toBe('unsupported_media_type');
    }
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  },
);

test.each(ALL_ENDPOINTS)('$path: refuses wide shapes by their path', async (facts) => {
  const caller = await newCaller(server, facts);
  const bag = bagOf(facts);
  const manyKeys = `{${Array.from({ length: 15_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`;
  expectRecordFault(await caller.send({ body: withText(facts, manyKeys) }), facts, bag);
  const manyItems = `{"x":[${'0,'.repeat(100_000)}0]}`;
  expectRecordFault(await caller.send({ body: withText(facts, manyItems) }), facts, `${bag}.x`);
  expectRecordFault(await caller.send({ body: withText(facts, `{"${'k'.repeat(200_000)}":1}`) }), facts, bag);
  const longText = 'a@'.repeat(100_000);
  const long = facts.stores === 'users' ? { email: longText } : { occurred_at: longText };
  const field = facts.stores === 'users' ? 'email' : 'occurred_at';
  expectRecordFault(await caller.send({ body: bodyOf(facts, [record(facts, long)]) }), facts, field);
  expect(await caller.stored()).toEqual(NOTHING_STORED);
});

const CONFLICTS: [what: string, headers: string[], body: string][] = [
  [
    'Content-Length beside Transfer-Encoding',
    ['Content-Length: 4', 'Transfer-Encoding: chunked'],
    '0\r\n\r\n',
  ],
  ['two lengths', ['Content-Length: 4', 'Content-Length: 5'], 'abcde'],
  ['a list of lengths', ['Content-Length: 4, 4'], 'abcd'],
  ['a negative length', ['Content-Length: -1'], ''],
  ['a length in hex', ['Content-Length: 0x4'], 'abcd'],
  ['an endless length', ['Content-Length: 99999999999999999999999'], ''],
  ['a transfer coding that is not the last', ['Transfer-Encoding: chunked, gzip'], ''],
  ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['a chunk of no size', ['Transfer-Encoding: chunked'], 'zz\r\n'],
  ['a chunk longer than it says', ['Transfer-Encoding: chunked'], '2\r\n{}x\r\n0\r\n\r\n'],
  ['space before the colon', ['Content-Length : 4'], 'abcd'],
  ['a folded header', ['X-A: 1', ' 2', 'Content-Length: 0'], ''],
];

test.each(CONFLICTS)('%s is 400 in the envelope on every endpoint', async (_, headers, body) => {
  for (const facts of ALL_ENDPOINTS) {
    const caller = await newCaller(server, facts);
    const { status, errors } = await sendRawRequest(port, headOf(caller, ...headers) + body);
    expect([facts.name, status, errors[0]?.code]).toEqual([facts.name, 400, 'bad_request']);
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  }
});

test.each(ALL_ENDPOINTS)(
  '$path: stores nothing of a body shorter than its length, and cuts a longer one there',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const body = JSON.stringify(bodyOf(facts));
    const short = await sendRawRequest(port, headOf(caller, `Content-Length: ${body.length + 1}`) + body, {
      end: true,
    });
    expect([short.status, short.errors[0]?.code]).toEqual([400, 'bad_request']);
    const unended = headOf(caller, 'Transfer-Encoding: chunked');
    const cut = await sendRawRequest(port, `${unended}${body.length.toString(16)}\r\n${body}\r\n`, {
      end: true,
    });
    expect([cut.status, cut.errors[0]?.code]).toEqual([400, 'bad_request']);
    const long = headOf(caller, 'Connection: close', `Content-Length: ${body.length - 1}`);
    expectInvalid(await sendRawRequest(port, long + body), facts, 'body');
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  },
);

test.each(ALL_ENDPOINTS)('$path: answers 408 to a slow body, and stores nothing of it', async (facts) => {
  const caller = await newCaller(server, facts);
  const body = JSON.stringify(bodyOf(facts));
  const slow = [`Content-Length: ${body.length}`, 'Idempotency-Key: k'];
  const late = await sendRawRequest(hurried.ports.http ?? 0, headOf(caller, ...slow) + body.slice(0, -1));
  expect([late.status, late.errors[0]?.code]).toEqual([408, 'request_timeout']);
  expect(await caller.stored()).toEqual(NOTHING_STORED);
});

type Edit = { at: number; remove: number; insert: string };

const edits = fc.array(
  fc.record({
    at: fc.nat(400),
    remove: fc.nat(20),
    insert: fc.oneof(
      fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'null', '1e400', '\\u0000', '\\ud800', '"":'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

function edited(text: string, list: Edit[]): string {
  return list.reduce((now, { at, remove, insert }) => {
    const from = at % (now.length + 1);
    return now.slice(0, from) + insert + now.slice(from + remove);
  }, text);
}

/** A body that is valid but for the fields that are any JSON. */
function almostRight(facts: Facts): fc.Arbitrary<string> {
  const names = ['external_user_id', 'email', 'traits', 'name', 'properties', 'occurred_at', 'message_id'];
  const fields = Object.fromEntries(names.map((name) => [name, fc.oneof(fc.jsonValue(), fc.string())]));
  const any = fc.record(fields, { requiredKeys: [] }).map((more) => record(facts, more));
  const records = fc.array(fc.oneof(any, fc.constant(record(facts)), fc.jsonValue()), {
    minLength: 1,
    maxLength: 5,
  });
  const rest = fc.record({ suppressTriggers: fc.jsonValue(), other: fc.jsonValue() }, { requiredKeys: [] });
  return fc
    .tuple(records, rest)
    .map(([list, more]) => JSON.stringify({ ...more, ...(bodyOf(facts, list) as object | null) }));
}

function anyBody(facts: Facts): fc.Arbitrary<SendOptions> {
  const right = JSON.stringify(bodyOf(facts, [record(facts), record(facts)]));
  const plain = fc.oneof(
    fc.constant(right),
    fc.uint8Array({ maxLength: 500 }),
    fc.json(),
    fc.string({ unit: 'binary' }),
    almostRight(facts),
    edits.map((list) => edited(right, list)),
    edits.map((list) => edited(right.replaceAll('u-1', '\ufeff\u2028é'), list)),
  );
  const packed = fc.tuple(plain, fc.nat(60), fc.nat(255), fc.boolean()).map(([text, at, byte, damage]) => {
    const body = gzipSync(text);
    if (damage) body[at % body.length] = byte;
    return { body, headers: { 'Content-Encoding': 'gzip' } };
  });
  return fc.oneof(
    { weight: 4, arbitrary: plain.map((body) => ({ body })) },
    { weight: 1, arbitrary: packed },
  );
}

/** Returns how many records this answer reports as accepted. */
function acceptedCount({ facts }: Caller, response: CheckedResponse): number {
  if (response.status !== facts.accepted) return 0;
  if (facts.kind === 'bulk') return (response.json as BulkResult).data.accepted;
  return facts.kind === 'batch' ? (response.json as BatchAccepted).meta.received : 1;
}

test.each(ALL_ENDPOINTS)(
  '$path: answers no body with a 5xx, and stores nothing of a refused one',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const seen = new Set<number>();
    let count = 0;
    let [waiting, keys] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anyBody(facts), async (sending) => {
        const response = await caller.send({ ...sending, once: `k${(count += 1)}` });
        seen.add(response.status);
        expect([facts.accepted, facts.invalid]).toContain(response.status);
        for (const error of response.errors) expect(error.field).toMatch(/./);
        const stored = await countsOf(caller);
        const expected = {
          waiting: waiting + acceptedCount(caller, response),
          keys: keys + (response.status === facts.accepted ? 1 : 0),
        };
        [waiting, keys] = [stored.waiting, stored.keys];
        expect(stored).toEqual(expected);
      }),
      { numRuns: 300 },
    );
    // Otherwise this test would prove nothing.
    expect(seen).toEqual(new Set([facts.accepted, facts.invalid]));
    expect((await caller.stored()).records).toHaveLength(waiting);
  },
);

async function countsOf(caller: Caller): Promise<{ waiting: number; keys: number }> {
  const [row] = await server.db.query<{ waiting: number; keys: number }>(
    `SELECT (SELECT coalesce(sum(records), 0)::bigint FROM beckon.ingest_queue WHERE project_id = $1) AS waiting,
            (SELECT count(*) FROM beckon.idempotency WHERE project_id = $1) AS keys`,
    [caller.id],
  );
  return row ?? { waiting: -1, keys: -1 };
}
