import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { DeadLetter, Erasure, FeedItem, KeptData, Role, SystemState } from '@beckon/contract/dashboard';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { idMaker } from '../../platform/ids.ts';
import { listEntries } from '../workspace/audit/store.ts';
import { erasePerson } from '../profiles/erase-user.ts';

const stage = await openStage();
const { db } = stage.server;
let woken = 0;
const dashboard = testDashboard(db, { wake: () => void (woken += 1) });
afterAll(() => dashboard.close());

let scenario: Scenario;
let at = '';
beforeEach(async () => {
  scenario = await newScenario(stage);
  at = `/projects/${scenario.projectId}`;
});

/** Creates records that could not be applied, as if a database had refused them. */
async function die(...users: string[]): Promise<void> {
  for (const user of users)
    await db.query(
      `WITH taken AS (UPDATE beckon.ingest_queue_state SET next_seq = next_seq + 1 WHERE project_id = $1 RETURNING next_seq - 1 AS seq)
       INSERT INTO beckon.dead_letter SELECT $1, seq, 'live', 'users', jsonb_build_object('external_user_id', $2::text), 'bad', $3, $3 FROM taken`,
      [scenario.projectId, user, new Date(scenario.now())],
    );
}
const dead = async () =>
  (await dashboard.request<DeadLetter[]>(`GET ${at}/dead-letters`, { as: 'viewer' })).json.data;

test('reports the state of the engine: queue, jobs, webhooks and versions', async () => {
  await scenario.post('users', { external_user_id: 'ada' });
  const { status, json } = await dashboard.request<SystemState>(`GET ${at}/system`, { as: 'viewer' });
  expect(status).toBe(200);
  expect(json.data).toMatchObject({
    version: '0.0.0',
    node: process.version,
    postgres: expect.stringMatching(/^\d+/),
    schema: expect.stringMatching(/^\d{4}-/),
    sending_enabled: true,
    queue: { live: 1, bulk: 0, dead_letters: 0, oldest_ms: 0, max: 50_000 },
    jobs: [{ name: 'process' }, { name: 'send' }, { name: 'webhooks' }],
    webhooks: { pending: 0, delivering: 0 },
  });
});

describe('GET /projects/:project/system', () => {
  test('shows sizes and row counts of the installation to admins and owners alone', async () => {
    const storage = async (as: Role): Promise<SystemState['storage']> =>
      (await dashboard.request<SystemState>(`GET ${at}/system`, { as })).json.data.storage;
    for (const as of ['viewer', 'reviewer', 'editor'] as const) expect(await storage(as), as).toBeNull();
    for (const as of ['admin', 'owner'] as const) {
      const facts = await storage(as);
      expect(facts?.database_bytes).toBeGreaterThan(1_000_000);
      expect(facts?.tables.length).toBeGreaterThan(5);
      expect(facts?.tables.every(({ bytes }) => bytes > 0)).toBe(true);
    }
  });

  test('names no table to a viewer', async () => {
    const { text } = await dashboard.request(`GET ${at}/system`, { as: 'viewer' });
    expect(text).not.toMatch(/team_|bytes|"rows"/);
  });
});

test('retries or discards dead-lettered records, one or all, with an audited reason', async () => {
  await die('a', 'b', 'c', 'd');
  const [first, second, third] = await dead();
  const act = (what: string, body: object = {}) =>
    dashboard.request<{ retried: number; discarded: number }>(`POST ${at}/dead-letters/${what}`, { body });
  const before = woken;
  expect((await act('retry', { seqs: [first?.seq] })).json.data).toEqual({ retried: 1 });
  expect(woken).toBe(before + 1);
  const gone = await act('discard', { seqs: [second?.seq, third?.seq, 999_999], reason: 'test_data' });
  expect(gone.json.data).toEqual({ discarded: 2 });
  expect((await dead()).map(({ record }) => record)).toEqual([{ external_user_id: 'd' }]);
  expect((await act('retry')).json.data).toEqual({ retried: 1 });
  expect(await dead()).toEqual([]);
  await scenario.later(1_000);
  const people = await db.query(
    'SELECT external_user_id AS id FROM beckon.person WHERE project_id = $1 ORDER BY 1',
    [scenario.projectId],
  );
  expect(people).toEqual([{ id: 'a' }, { id: 'd' }]);
  const query = {
    projectIds: [scenario.projectId],
    actor: null,
    action: 'dead_letter.discard',
    after: null,
    limit: 9,
  };
  expect(await listEntries(db, query)).toMatchObject([{ after: { discarded: 2, reason: 'test_data' } }]);
  expect((await act('discard', { seqs: [1], reason: 'a test of ours' })).json.errors[0]?.field).toBe(
    'reason',
  );
  expect((await act('discard', { seqs: [] })).status).toBe(422);
  const refused = { as: 'editor' as const, body: {} };
  expect((await dashboard.request(`POST ${at}/dead-letters/retry`, refused)).status).toBe(403);
  expect((await dashboard.request('GET /projects/99999/system')).status).toBe(404);
});

test('creates a support bundle with the state, and without users, secrets or addresses', async () => {
  await scenario.set({ from_name: 'Grace Hopper', team_addresses: 'grace@acme.example', keep_stream: '30d' });
  await scenario.user('ada-lovelace', { email: 'ada@x.org' });
  await die('charles-babbage');
  await dashboard.request(`POST ${at}/webhooks`, { body: { url: 'https://hooks.acme.example/s3cr3t-path' } });
  const { secret } = (
    await dashboard.request<{ secret: string }>(`POST ${at}/keys`, { body: { label: 'k' } })
  ).json.data;
  const { status, text, headers } = await dashboard.request(`GET ${at}/support-bundle`, { as: 'admin' });
  expect([status, headers['content-disposition']]).toEqual([
    200,
    `attachment; filename="beckon-support-${scenario.projectId}.json"`,
  ]);
  for (const hidden of ['Grace', 'grace@', 'ada', 'charles', 's3cr3t', secret, secret.slice(-4)])
    expect(text).not.toContain(hidden);
  expect(JSON.parse(text)).toMatchObject({
    settings: { keep_stream: '30d', from_name: 'set', reply_to: expect.any(String) },
    endpoints: [{ host: 'hooks.acme.example' }],
    dead_letters: [{ kind: 'users' }],
    installed: { transport: 'test_inbox' },
  });
  expect((await dashboard.request(`GET ${at}/support-bundle`, { as: 'editor' })).status).toBe(403);
});

test('proves an erasure without a name, and reports what is kept for how long', async () => {
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'began');
  await scenario.later(1_000);
  await erasePerson(
    { db, newId: idMaker(db.clock), hasher: testHasher },
    { projectId: scenario.projectId, userId: 'ada' },
  );
  const { text, json } = await dashboard.request<Erasure[]>(`GET ${at}/erasures`, { as: 'admin' });
  expect(json.data).toMatchObject([
    { at: new Date(scenario.now()).toISOString(), removed: { person: 1, person_email: 1, event: 1 } },
  ]);
  expect(text).not.toContain('ada');
  expect(json.meta.pagination.total).toBe(1);
  const kept = (await dashboard.request<KeptData>(`GET ${at}/data`, { as: 'viewer' })).json.data;
  expect(kept).toMatchObject({
    retention: [
      { setting: 'keep_events', period: 'forever', oldest_at: null },
      { setting: 'keep_stream', period: '90d' },
      { setting: 'keep_emails', period: '90d', oldest_at: null },
      { setting: 'keep_dead', period: 'forever', oldest_at: null },
    ],
    erasures_waiting: 0,
  });
  expect((await dashboard.request(`GET ${at}/erasures`, { as: 'editor' })).status).toBe(403);
});

test('exports the stream as lines, whole or filtered, for admins alone', async () => {
  await scenario.user('ada');
  await scenario.event('ada', 'began');
  await scenario.later(1_000);
  const exportStream = async (query: string, as: 'admin' | 'editor' = 'admin') =>
    dashboard.request(`GET ${at}/stream-export?${query}`, { as });
  const { text } = await exportStream('filter=type:event');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FeedItem);
  expect(lines).toMatchObject([{ type: 'event', name: 'began', external_user_id: 'ada' }]);
  const later = new Date(scenario.now() + 1).toISOString();
  expect((await exportStream(`since=${later}`)).text).toBe('');
  expect((await exportStream('since=yesterday')).json.errors[0]?.field).toBe('since');
  expect((await exportStream('filter=colour:red')).json.errors[0]?.field).toBe('filter');
  expect((await exportStream('', 'editor')).status).toBe(403);
});
