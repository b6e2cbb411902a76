import { expect, test } from 'vitest';
import { sha256 } from '../../base/hash.ts';
import { heldClock } from '../../../testkit/clock.ts';
import { openTestDatabase } from '../../../testkit/database.ts';
import { deleteAnswers, findAnswers, fingerprint, readIdempotencyKey } from './index.ts';

const db = await openTestDatabase(heldClock());

const UUID = '8e03978e-40d5-43dd-bc93-6894a57f9324';

test('a UUID is the same key in any case and in quotes', () => {
  const key = readIdempotencyKey(UUID);
  expect(readIdempotencyKey(UUID.toUpperCase())).toEqual(key);
  expect(readIdempotencyKey(`"${UUID}"`)).toEqual(key);
  expect(key?.isUuidV4).toBe(true);
});

test('another key is kept to the letter, and flagged', () => {
  expect(readIdempotencyKey('Order-7')).not.toEqual(readIdempotencyKey('order-7'));
  expect(readIdempotencyKey('Order-7')?.isUuidV4).toBe(false);
  expect(readIdempotencyKey(UUID.replace('-43dd', '-13dd'))?.isUuidV4).toBe(false);
  expect(readIdempotencyKey('x'.repeat(255))).not.toBeNull();
});

test.each(['', '""', 'a b', 'a, b', 'ä', 'x'.repeat(256), '\t', 'a\u007f'])('%j is no key', (header) => {
  expect(readIdempotencyKey(header)).toBeNull();
});

const print = (text: string, canonical = true, path = '/api/v1/events') =>
  fingerprint({ path, body: JSON.parse(text), raw: Buffer.from(text), canonical, sound: false });

test('the same body in other clothes has the same fingerprint on single endpoints', () => {
  expect(print('{"a":1,"b":"\\u0041"}')).toBe(print('{ "b": "A", "a": 1.0 }'));
  expect(print('{"a":[1,2]}')).not.toBe(print('{"a":[2,1]}'));
  expect(print('{"a":null}')).not.toBe(print('{}'));
});

test('on batch and bulk the order of keys counts, white space does not', () => {
  expect(print('{"a":1,"b":2}', false)).toBe(print('{ "a":1, "b":2 }', false));
  expect(print('{"a":1,"b":2}', false)).not.toBe(print('{"b":2,"a":1}', false));
});

test('the endpoint is part of what a key was used for', () => {
  expect(print('{}', true, '/api/v1/users')).not.toBe(print('{}', true, '/api/v1/events'));
});

test('a body nested a hundred thousand deep has a fingerprint too', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const canonical of [true, false]) {
    expect(print(deep, canonical)).toBe(print(deep, canonical));
    expect(print(deep, canonical)).not.toBe(print(`[${deep}]`, canonical));
  }
});

test('answers older than the window are absent, and deleted in bounded steps', async () => {
  const keyOf = (n: number) => sha256(`k${n}`).slice(0, 32);
  const accepted = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000);
  for (let n = 0; n < 10; n += 1) {
    await db.query(
      `INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, accepted_at) VALUES (1, $1, $2, 202, $3)`,
      [Buffer.from(keyOf(n), 'hex'), Buffer.from(sha256('f'), 'hex'), accepted(n)],
    );
  }
  const wanted = [0, 4, 9].map((n) => ({ projectId: 1, key: keyOf(n) }));
  expect((await findAnswers(db, wanted, accepted(4))).map((answer) => answer.key)).toEqual([keyOf(9)]);
  expect(await findAnswers(db, [{ projectId: 2, key: keyOf(9) }], accepted(4))).toEqual([]);
  expect(await deleteAnswers(db, accepted(5), 3)).toBe(3);
  expect(await deleteAnswers(db, accepted(5), 3)).toBe(2);
  const left = await db.query(`SELECT 1 FROM beckon.idempotency`);
  expect(left).toHaveLength(5);
});
