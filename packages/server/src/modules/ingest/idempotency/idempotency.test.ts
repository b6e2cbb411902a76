import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../../platform/crypto/hash.ts';
import { runSteps } from '../../../platform/time/steps.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { deleteIdempotencyKeys, findIdempotentReplies } from './store.ts';
import { fingerprint } from '../api/receive.ts';
import { readIdempotencyKey } from './key.ts';

const db = await openTestDatabase(fixedClock());

const UUID = '8e03978e-40d5-43dd-bc93-6894a57f9324';

test('reads a UUID as the same key in any case and in quotes', () => {
  const key = readIdempotencyKey(UUID);
  expect(readIdempotencyKey(UUID.toUpperCase())).toEqual(key);
  expect(readIdempotencyKey(`"${UUID}"`)).toEqual(key);
  expect(key?.isUuidV4).toBe(true);
});

test('keeps the case of any other key and flags it', () => {
  expect(readIdempotencyKey('Order-7')).not.toEqual(readIdempotencyKey('order-7'));
  expect(readIdempotencyKey('Order-7')?.isUuidV4).toBe(false);
  expect(readIdempotencyKey(UUID.replace('-43dd', '-13dd'))?.isUuidV4).toBe(false);
  expect(readIdempotencyKey('x'.repeat(255))).not.toBeNull();
});

test.each(['', '""', 'a b', 'a, b', 'ä', 'x'.repeat(256), '\t', 'a\u007f'])(
  'rejects the key %j',
  (header) => {
    expect(readIdempotencyKey(header)).toBeNull();
  },
);

const print = (text: string, canonical = true, path = '/api/v1/events') =>
  runSteps(fingerprint({ path, body: JSON.parse(text), raw: Buffer.from(text), canonical, sound: false }));

test('gives the same fingerprint to equivalent bodies on single endpoints', () => {
  expect(print('{"a":1,"b":"\\u0041"}')).toBe(print('{ "b": "A", "a": 1.0 }'));
  expect(print('{"a":[1,2]}')).not.toBe(print('{"a":[2,1]}'));
  expect(print('{"a":null}')).not.toBe(print('{}'));
});

test('depends on key order but not on white space for batch and bulk', () => {
  expect(print('{"a":1,"b":2}', false)).toBe(print('{ "a":1, "b":2 }', false));
  expect(print('{"a":1,"b":2}', false)).not.toBe(print('{"b":2,"a":1}', false));
});

test('includes the endpoint in the fingerprint', () => {
  expect(print('{}', true, '/api/v1/users')).not.toBe(print('{}', true, '/api/v1/events'));
});

test('hashes a body nested a hundred thousand levels deep', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const canonical of [true, false]) {
    expect(print(deep, canonical)).toBe(print(deep, canonical));
    expect(print(deep, canonical)).not.toBe(print(`[${deep}]`, canonical));
  }
});

test('hashes a body for batch and bulk as written by JSON.stringify, whatever its pieces', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const text = JSON.stringify(body);
      const of = { path: '/p', body: JSON.parse(text) as unknown, raw: Buffer.from(text), canonical: false };
      expect(runSteps(fingerprint({ ...of, sound: true }))).toBe(sha256(`POST /p\n${text}`));
    }),
  );
});

test.each([true, false])('hashes a long body in steps of at most twice 256 KiB (sound: %j)', (sound) => {
  const users = Array.from({ length: 100 }, (_, n) => ({ id: n, text: 'x'.repeat(60_000) }));
  const steps = fingerprint({ path: '/p', body: { users }, raw: Buffer.alloc(0), canonical: false, sound });
  let yields = 0;
  while (!steps.next().done) yields += 1;
  expect(yields).toBeGreaterThanOrEqual(6_000_000 / (512 * 1024));
});

test('ignores answers older than the window, and deletes them in bounded steps', async () => {
  const keyOf = (n: number) => sha256(`k${n}`).slice(0, 32);
  const accepted = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000);
  for (let n = 0; n < 10; n += 1) {
    await db.query(
      `INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, accepted_at) VALUES (1, $1, $2, 202, $3)`,
      [Buffer.from(keyOf(n), 'hex'), Buffer.from(sha256('f'), 'hex'), accepted(n)],
    );
  }
  const keys = [0, 4, 9].map((n) => ({ projectId: 1, key: keyOf(n) }));
  expect((await findIdempotentReplies(db, keys, accepted(4))).map((reply) => reply.key)).toEqual([keyOf(9)]);
  expect(await findIdempotentReplies(db, [{ projectId: 2, key: keyOf(9) }], accepted(4))).toEqual([]);
  expect(await deleteIdempotencyKeys(db, { before: accepted(5), from: null, limit: 3 })).toEqual({
    deleted: 3,
    reached: accepted(2),
  });
  expect(await deleteIdempotencyKeys(db, { before: accepted(5), from: accepted(2), limit: 3 })).toEqual({
    deleted: 2,
    reached: accepted(4),
  });
  const left = await db.query(`SELECT 1 FROM beckon.idempotency`);
  expect(left).toHaveLength(5);
});

test('reads only as many blocks as the deletion needs, wherever the rows are in the table', async () => {
  const keep = (from: number, count: number) =>
    db.query(
      `INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, accepted_at)
       SELECT 2, uuid_send(gen_random_uuid()), sha256(''), 202, timestamptz '2026-01-01' + n * interval '1 second'
       FROM generate_series($1::int, $2::int) n`,
      [from, from + count - 1],
    );
  const before = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000);
  await keep(0, 150_000);
  await db.query('VACUUM beckon.idempotency');
  await db.query(`DELETE FROM beckon.idempotency WHERE project_id = 2 AND accepted_at < $1`, [
    before(100_000),
  ]);
  await db.query('VACUUM ANALYZE beckon.idempotency');
  // The new rows are stored before the old ones.
  await keep(150_000, 100_000);
  await db.query('ANALYZE beckon.idempotency');
  type Plan = { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } };
  let blocks = Infinity;
  const explaining: Tx = {
    prepared: (query) => db.prepared(query),
    async query(text, values) {
      const rows = await db.query<{ 'QUERY PLAN': Plan[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      blocks = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return [];
    },
  };
  await deleteIdempotencyKeys(explaining, { before: before(110_000), from: null, limit: 100 });
  expect(blocks).toBeGreaterThan(0);
  expect(blocks).toBeLessThan(700);
});
