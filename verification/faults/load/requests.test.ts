import { expect, test } from 'vitest';
import type { World } from '../journal.ts';
import { clashOf, initialUsers, requestOf } from './requests.ts';

function world(seed: number): World {
  const projects = ['1', '2', '3'].map((id): World['projects'][number] => ({
    id,
    name: id,
    keys: [],
    quietHours: 'off',
    timeZone: 'UTC',
    kind: 'fast',
    domain: 'mail.test',
  }));
  return { seed, startedAt: 0, databaseUrl: '', projects, endpoints: [], relays: {} };
}

const COUNT = 3_000;
const requests = Array.from({ length: COUNT }, (_, n) => requestOf(world(7), n + 1));

test('requestOf returns the same load for the same seed, and another load for another seed', () => {
  expect(requests).toEqual(Array.from({ length: COUNT }, (_, n) => requestOf(world(7), n + 1)));
  expect(requestOf(world(8), 1)).not.toEqual(requests[0]);
});

test('requestOf repeats no Idempotency-Key, and repeats an event id only on purpose', () => {
  expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(COUNT);
  const ids = requests.flatMap(({ project, body }) =>
    Array.from(body.matchAll(/"message_id":"(\d+ \d+)"/g), ([, id]) => `${project} ${id}`),
  );
  expect(ids.length).toBeGreaterThan(COUNT);
  expect(new Set(ids).size).toBe(ids.length);
});

test('requestOf mixes single, batch, bulk and order requests in the configured shares', () => {
  const share = (path: RegExp): number =>
    requests.filter((request) => path.test(request.path)).length / COUNT;
  expect(share(/(users|events)$/)).toBeGreaterThan(0.4);
  expect(share(/batch$/)).toBeGreaterThan(0.4);
  expect(share(/bulk$/)).toBeGreaterThan(0.05);
  expect(requests.filter(({ body }) => body.includes('order_placed')).length / COUNT).toBeGreaterThan(0.1);
});

test('clashOf returns another body under the key of an existing request', () => {
  const [first] = requests;
  if (!first) throw new Error('the list is empty');
  const clash = clashOf(first, world(7));
  expect(clash.idempotencyKey).toBe(first.idempotencyKey);
  expect(clash.body).not.toBe(first.body);
  expect(clash.request).not.toBe(first.request);
});

test('introduction creates every user of a project with an address of that project', () => {
  const { body, records } = initialUsers(world(7), '2');
  const { users } = JSON.parse(body) as { users: { email: string }[] };
  expect(users).toHaveLength(records);
  expect(users.every(({ email }) => email.endsWith('@p2.test'))).toBe(true);
});
