import { gzipSync } from 'node:zlib';
import {
  type BulkResult,
  JSON_MAX_ARRAY_ITEMS,
  JSON_MAX_OBJECT_KEYS,
  RECORD_MAX_VALUES,
} from '@beckon/contract';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { costlyBodies } from '../../../../testing/factories/costly-inputs.ts';
import { expectInvalid } from '../../../../testing/cases/endpoints/invalid.ts';
import {
  acceptance,
  ALL_ENDPOINTS,
  bagOf,
  bodyOf,
  EVENTS,
  type Facts,
  record,
  USERS_BULK,
} from '../../../../testing/factories/endpoints.ts';
import { endpointServer, newCaller, NOTHING_STORED } from '../../../../testing/servers/endpoint-server.ts';

const server = await endpointServer();
const MIB = 1024 * 1024;
const gzip = { 'Content-Encoding': 'gzip' };

afterEach(() => {
  vi.restoreAllMocks();
});

/** Returns the longest text that was parsed while `during` ran. */
async function longestParsed(during: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(JSON, 'parse');
  await during();
  return Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
}

const keys = (count: number, value: unknown = 1): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key_${i}`, value]));

/** Bodies that no valid request can have, and the field that each is refused for. */
const COSTLY: [what: string, body: (facts: Facts) => string, field: (facts: Facts) => string][] = [
  ['a list in itself', () => `{"users":${'['.repeat(90_000)}${']'.repeat(90_000)}}`, () => 'users'],
  ['brackets alone', () => '['.repeat(250_000), () => 'body'],
  ['objects in each other', () => '{"a":'.repeat(50_000), () => 'a'],
  [
    'a million keys',
    ({ kind }) => JSON.stringify(keys(kind === 'single' ? 15_000 : 1_000_000 / 4)),
    () => 'body',
  ],
  ['one key many times', () => `{${'"a":0,'.repeat(30_000)}"a":0}`, () => 'body'],
  ['a number of 200,000 digits', () => `{"n":${'9'.repeat(200_000)}}`, () => 'n'],
];

describe('JSON bounds', () => {
  describe.each(ALL_ENDPOINTS)('$path', (facts) => {
    test.each(COSTLY)('refuses %s without parsing it', async (_, bodyFor, fieldFor) => {
      const caller = await newCaller(server, facts);
      const body = gzipSync(bodyFor(facts));
      const longest = await longestParsed(async () => {
        const response = await caller.send({ body, headers: gzip, once: 'k' });
        expectInvalid(response, facts, fieldFor(facts));
      });
      expect(longest).toBeLessThan(10_000);
      expect(await caller.stored()).toEqual(NOTHING_STORED);
    });
  });

  test('refuses 4.75 million brackets to /users/bulk, 9 kB as gzip, without parsing them', async () => {
    const caller = await newCaller(server, USERS_BULK);
    const brackets = 4_750_000;
    const body = gzipSync(`{"users":${'['.repeat(brackets)}${']'.repeat(brackets)}}`, { level: 9 });
    expect(body.length).toBeLessThan(10_000);
    const longest = await longestParsed(async () =>
      expectInvalid(await caller.send({ body, headers: gzip }), USERS_BULK, 'users'),
    );
    expect(longest).toBeLessThan(10_000);
  });

  test('refuses 260 kB of brackets to /events, 350 bytes as gzip, without parsing them', async () => {
    const caller = await newCaller(server, EVENTS);
    const body = gzipSync(`{"properties":${'['.repeat(130_000)}${']'.repeat(130_000)}}`);
    const longest = await longestParsed(async () =>
      expectInvalid(await caller.send({ body, headers: gzip }), EVENTS, 'properties'),
    );
    expect(longest).toBeLessThan(10_000);
  });

  test.each(Object.entries(costlyBodies('users')))(
    'refuses %s to /users/bulk without parsing them',
    async (_, text) => {
      const caller = await newCaller(server, USERS_BULK);
      const field = text.startsWith('{"a"') ? 'body' : 'users';
      const longest = await longestParsed(async () =>
        expectInvalid(await caller.send({ body: gzipSync(text), headers: gzip }), USERS_BULK, field),
      );
      expect(longest).toBeLessThan(10_000);
    },
  );
});

/** A record of about 64 KiB that has as many values as one may have. */
function densest(facts: Facts, id: number): unknown {
  const items = Array.from({ length: JSON_MAX_ARRAY_ITEMS }, (_, i) => i % 10);
  const lists = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`list_${i}`, items]));
  const nested = Array.from({ length: 900 }, () => [[1], {}]);
  return record(facts, { external_user_id: `u-${id}`, [bagOf(facts)]: { ...keys(200), ...lists, nested } });
}

/** Ten levels, with the keys and the items at their bounds, in any spelling. */
function widest(facts: Facts): unknown {
  const deep = Array.from({ length: 9 }).reduce<unknown>((inner) => ({ a: inner }), 1);
  const bag = {
    ...keys(JSON_MAX_OBJECT_KEYS - 3, 'é\u{1F600}"\\'),
    deep,
    items: Array(1_000).fill(''),
    n: -0.5e-7,
  };
  return record(facts, { [bagOf(facts)]: bag });
}

describe('valid requests at the bounds', () => {
  test.each(ALL_ENDPOINTS)(
    '$path: accepts a record at all of its bounds, compact or indented',
    async (facts) => {
      const caller = await newCaller(server, facts);
      for (const sample of [densest(facts, 1), widest(facts)])
        for (const indent of [undefined, 1]) {
          const body = JSON.stringify(bodyOf(facts, [sample]), undefined, indent);
          const { status, json } = await caller.send({ body: gzipSync(body), headers: gzip });
          expect([status, json]).toEqual([facts.accepted, acceptance(facts)]);
        }
      expect((await caller.stored()).records).toEqual([
        densest(facts, 1),
        densest(facts, 1),
        widest(facts),
        widest(facts),
      ]);
    },
  );

  test.each(ALL_ENDPOINTS.filter(({ list }) => list !== null))(
    '$path: accepts 1,000 records of 255 keys each, and 10 MiB of text, and parses them in pieces',
    async (facts) => {
      const caller = await newCaller(server, facts);
      const records = (more: (i: number) => unknown): unknown[] =>
        Array.from({ length: 1_000 }, (_, i) =>
          record(facts, { external_user_id: `u-${i}`, [bagOf(facts)]: more(i) }),
        );
      const batches = [
        records((i) => ({ ...keys(JSON_MAX_OBJECT_KEYS - 1), [`of_${i}`]: i })),
        records(() => ({ text: 'ä'.repeat(5_100) })),
      ];
      for (const batch of batches) {
        const body = gzipSync(JSON.stringify(bodyOf(facts, batch)));
        const longest = await longestParsed(async () => {
          const { json } = await caller.send({ body, headers: gzip, once: `k${batches.indexOf(batch)}` });
          expect(json).toEqual(acceptance(facts, 1_000));
        });
        expect(longest).toBeLessThan(MIB / 8);
      }
      expect((await caller.stored()).waiting).toBe(2_000);
    },
  );

  test.each(ALL_ENDPOINTS)(
    '$path: names the field that makes a record hold too many values',
    async (facts) => {
      const caller = await newCaller(server, facts);
      const list = Array.from({ length: JSON_MAX_ARRAY_ITEMS }, () => keys(6));
      expect(list.length * 7).toBeGreaterThan(RECORD_MAX_VALUES);
      const { status, errors, json } = await caller.send({
        body: bodyOf(facts, [record(facts, { [bagOf(facts)]: { list } })]),
      });
      const [fault] = facts.kind === 'bulk' ? (json as BulkResult).data.errors : errors;
      const at = facts.kind === 'batch' ? 'events.0.' : '';
      expect([status, fault?.field]).toEqual([facts.kind === 'bulk' ? 200 : 422, at + bagOf(facts)]);
    },
  );

  test('fingerprints a long body and the same body in other spelling alike', async () => {
    const caller = await newCaller(server, USERS_BULK);
    const records = Array.from({ length: 1_000 }, (_, i) =>
      record(USERS_BULK, { external_user_id: `u-${i}`, traits: { text: 'ä'.repeat(400) } }),
    );
    const body = bodyOf(USERS_BULK, [...records.slice(1), { external_user_id: 7 }]);
    const first = await caller.send({ body, once: 'k' });
    const again = await caller.send({ body: JSON.stringify(body, undefined, 3), once: 'k' });
    expect([first.status, again.text]).toEqual([200, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  test('refuses a long body that is not JSON, in its middle or at its end', async () => {
    const caller = await newCaller(server, USERS_BULK);
    const records = Array.from({ length: 1_000 }, (_, i) => ({
      external_user_id: `u-${i}`,
      x: 'x'.repeat(2_000),
    }));
    const body = JSON.stringify({ users: records });
    for (const wrong of [body.replace('"u-500"', '"u-500'), body.replace('u-999"', 'u-999",'), `${body}]`])
      expectInvalid(await caller.send({ body: wrong }), USERS_BULK, 'body');
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });
});
