import { afterAll, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/factories/database.ts';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { webhookStage } from '../../../testing/factories/webhook-stage.ts';
import { newScenario } from '../../../testing/scenario.ts';
import { EVENTS } from '../../../testing/factories/endpoints.ts';
import { endpointServer, newCaller, twinOf } from '../../../testing/servers/endpoint-server.ts';
import { installFakeCitus } from '../../../testing/servers/fake-citus.ts';
import { distribute } from '../../platform/db/distribute.ts';

/**
 * The journeys of several projects in a database that counts as distributed. Without a cluster it is one PostgreSQL, and these tests show
 * that grouping by project changes no result. On a cluster they show that its nodes accept the statements of these journeys.
 */
async function distributedDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  if (inject('isCluster')) return database;
  const url = await installFakeCitus(database.url);
  const connection: TestDatabase['connection'] = () => ({ connectionString: url });
  await distribute(connection);
  return { ...database, url, connection };
}

const database = await distributedDatabase();
// The server stops before.
afterAll(() => database.drop());
const server = await endpointServer({ database });
const twin = await twinOf(server);
const engine = openEngine(server.db, server.clock);
const webhooks = await webhookStage(2_000, await distributedDatabase());
afterAll(() => webhooks.close());

test('reads at the start that the tables are distributed', () => {
  expect([server.db.isDistributed, webhooks.db.isDistributed]).toEqual([true, true]);
});

test('accepts, processes, drafts and sends for several projects', async () => {
  const stage = { server, engine };
  const scenarios = await Promise.all([1, 2, 3].map(() => newScenario(stage, { quiet_hours: 'off' })));
  await Promise.all(
    scenarios.map(async (scenario, i) => {
      await scenario.rule({
        name: 'greeter',
        when: { event: 'hello' },
        steps: [{ draft: { subject: `Hello ${i}`, body: 'Hello.' } }],
      });
      await scenario.user('ann', { email: `ann@p${i}.example` });
      await Promise.all([scenario.event('ann', 'hello'), scenario.event('bob', 'hello')]);
    }),
  );
  await engine.advance(HOUR);
  for (const scenario of scenarios) await scenario.act('ann', { kind: 'approve' });
  await engine.advance(HOUR);
  for (const [i, scenario] of scenarios.entries()) {
    expect(await scenario.emails()).toMatchObject([
      { to: 'ann', address: `ann@p${i}.example`, subject: `Hello ${i}` },
    ]);
    expect(await scenario.drafts('bob')).toMatchObject([{ state: 'held', reason: 'no_address' }]);
  }
});

test('stores concurrent requests of a project one after the other, in two processes', async () => {
  const caller = await newCaller(server, EVENTS);
  const users = Array.from({ length: 40 }, (_, i) => `u${i}`);
  const responses = await Promise.all(
    users.map((userId, i) =>
      caller.send({
        path: '/api/v1/events/bulk',
        body: { events: [{ external_user_id: userId, name: 'hello' }] },
        at: i % 2 ? twin : server,
      }),
    ),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const rows = await server.db.query<{ seq: number }>(
    'SELECT seq FROM beckon.ingest_queue WHERE project_id = $1 ORDER BY seq',
    [caller.id],
  );
  expect(rows.map(({ seq }) => seq)).toEqual(users.map((_, i) => i + 1));
  expect(
    await server.db.query('SELECT next_seq, waiting FROM beckon.ingest_queue_state WHERE project_id = $1', [
      caller.id,
    ]),
  ).toEqual([{ next_seq: 41, waiting: 40 }]);
});

test('delivers the webhooks of several projects in one round', async () => {
  const projectIds = await Promise.all([1, 2, 3].map(() => webhooks.project()));
  for (const projectId of projectIds) {
    await webhooks.endpoint(projectId, `/p${projectId}`);
    await webhooks.queue(projectId, 2);
  }
  expect(await webhooks.delivery.round()).toMatchObject({ recorded: 0, claimed: 6 });
  await webhooks.settle();
  for (const projectId of projectIds)
    expect((await webhooks.deliveries(projectId)).map(({ state }) => state)).toEqual([
      'delivered',
      'delivered',
    ]);
});

test('records the answers of other projects if those of one cannot be recorded', async () => {
  const [broken, healthy] = [await webhooks.project(), await webhooks.project()];
  for (const projectId of [broken, healthy]) {
    await webhooks.endpoint(projectId, `/p${projectId}`);
    await webhooks.queue(projectId);
  }
  await webhooks.delivery.round();
  await webhooks.delivery.whenIdle();
  await webhooks.db.query(
    `ALTER TABLE beckon.webhook_attempt ADD CONSTRAINT broken CHECK (project_id <> ${broken} OR ended_at IS NULL) NOT VALID`,
  );
  await expect(webhooks.delivery.round()).rejects.toThrow(/broken/);
  await webhooks.db.query('ALTER TABLE beckon.webhook_attempt DROP CONSTRAINT broken');
  await webhooks.settle();
  for (const projectId of [broken, healthy])
    expect(await webhooks.deliveries(projectId)).toMatchObject([
      { state: 'delivered', attempts: [{ number: 1 }] },
    ]);
});
