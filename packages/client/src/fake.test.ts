import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type TestProject,
  testProject,
  type TestServer,
  testServer,
} from '../../server/testing/servers/server.ts';
import { createFakeServer, type FakeServer } from './testing.ts';

let fake: FakeServer;
let server: TestServer;
let project: TestProject;

beforeAll(async () => {
  fake = await createFakeServer();
  server = await testServer();
  project = await testProject(server);
});
afterAll(async () => {
  await fake.close();
  await server.stop();
});

type PostResult = { status: number; errors: [string, string | undefined][]; body: unknown };

async function post(to: { url: string; key: string }, path: string, body: unknown): Promise<PostResult> {
  const response = await fetch(`${to.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  type Body = { errors?: Entry[]; data?: { errors?: Entry[]; accepted?: unknown }; meta?: object };
  type Entry = { code: string; field?: string };
  const json = (await response.json()) as Body;
  const entries = json.errors ?? json.data?.errors ?? [];
  const errors = entries.map(({ code, field }): [string, string | undefined] => [code, field]);
  return { status: response.status, errors, body: { accepted: json.data?.accepted, meta: json.meta } };
}

const user = { external_user_id: 'ada' };
const event = { ...user, name: 'feature_used' };
const long = 'x'.repeat(300);

test.each([
  ['users', user],
  ['users', {}],
  ['users', 'no JSON'],
  ['users', { external_user_id: 7, email: 'nowhere', traits: [] }],
  ['users', { external_user_id: long, traits: null }],
  ['users', { ...user, email: 'ada@localhost' }],
  ['users', { ...user, traits: { text: 'x'.repeat(70_000) } }],
  ['events', event],
  ['events', { ...event, name: '', occurred_at: 'yesterday', message_id: '' }],
  ['events', { ...event, occurred_at: '1999-12-31T00:00:00Z' }],
  ['events', { ...event, occurred_at: '2099-12-31T00:00:00Z', properties: 'many' }],
  ['events', { ...user, name: 'usage_threshold_reached' }],
  ['events', { ...user, name: 'trial_started', properties: { trialDays: '14', plan: 3 } }],
  ['events', { ...user, name: 'constructor', properties: { toString: 1 } }],
  ['events/batch', { events: [event, event] }],
  ['events/batch', { events: [event, { ...event, name: 3 }, 'no event'] }],
  ['events/batch', { events: [], suppressTriggers: true }],
  ['events/batch', { events: [event], suppressTriggers: 'yes' }],
  ['events/bulk', { events: [event, {}, { ...event, message_id: long }] }],
  ['events/bulk', { events: Array(1_001).fill(event) }],
  ['users/bulk', { users: [user, { ...user, email: '@' }, null] }],
  ['users/bulk', { users: user }],
  ['users/bulk', {}],
])('fake server › answers like the real server: %s %j', async (path, body) => {
  const real = await post({ url: server.url, key: project.secret }, path, body);
  expect(await post({ url: fake.url, key: fake.apiKey }, path, body)).toEqual(real);
});

test('fake server › rejects an unknown key like the real server', async () => {
  const key = `sk_live_${'x'.repeat(40)}`;
  const result = await post({ url: fake.url, key }, 'users', user);
  expect(result).toMatchObject({ status: 401, errors: [['auth_required', undefined]] });
  expect(result).toEqual(await post({ url: server.url, key }, 'users', user));
});

test('fake server › deduplicates events like the real server', async () => {
  fake.reset();
  const to = { url: fake.url, key: fake.apiKey };
  for (const path of ['events/bulk', 'events/batch']) {
    const copies = [
      { ...event, message_id: `1 ${path}` },
      { ...event, message_id: `1 ${path}`, properties: { other: 1 } },
      { ...event, occurred_at: '2026-01-01T10:00:00Z', properties: { a: 1, b: path } },
      { ...event, occurred_at: '2026-01-01T11:00:00+01:00', properties: { b: path, a: 1 } },
      event,
      event,
    ];
    for (const _ of [1, 2]) await post(to, path, { events: copies });
  }
  // Each path stores one event by `message_id` and one by time. Without either, bulk stores one and the batches store all four.
  expect(fake.events).toHaveLength(4 + 1 + 4);
});
